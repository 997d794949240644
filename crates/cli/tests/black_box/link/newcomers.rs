//! Searches that come while another one is received.

use std::io::Write;

use super::sites::*;

#[test]
fn another_search_is_refused_and_the_first_goes_on() {
    let sites = Sites::new(40);
    let wanted = sites.direct(&[]);
    let receiver = sites.receive_db();
    let (mut search, rest) = sites.begin(&receiver.address, &["-link_timeout", "60"]);
    // Its header tells that it is another one.
    let other = ["-evalue", "1"];
    let run = sites.search(&receiver.address, [HERE, THERE], &other).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", said(&run));
    assert!(said(&run).contains("another search is received here"), "{}", said(&run));
    // Its header does not, and perhaps the first one is dead: it waits.
    let (mut waiting, _) = sites.begin(&receiver.address, &["-link_timeout", "2"]);
    drop(waiting.stdin.take());
    let run = waiting.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", said(&run));
    assert!(said(&run).contains("another run of this search"), "{}", said(&run));
    assert!(said(&run).contains("no connection for 2 s"), "{}", said(&run));

    search.stdin.take().unwrap().write_all(&rest).unwrap();
    let run = search.wait_with_output().unwrap();
    assert!(run.status.success() && said(&run).is_empty(), "{}", said(&run));
    let (code, messages) = receiver.end();
    assert!(code == Some(0) && !messages.contains("broke"), "{messages}");
    assert!(messages.contains("is not let in: another search"), "{messages}");
    assert!(sites.report() == Some(wanted));
}
