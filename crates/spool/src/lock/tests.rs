use super::*;

#[test]
fn silence_counts_in_both_directions() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let second = Duration::from_secs(1);
    assert_eq!(patience_left(now, now), Some(LOCK_TIMEOUT));
    assert_eq!(patience_left(now - 10 * second, now), Some(LOCK_TIMEOUT - 10 * second));
    assert_eq!(patience_left(now + 10 * second, now), Some(LOCK_TIMEOUT - 10 * second));
    for long in [LOCK_TIMEOUT, 2 * LOCK_TIMEOUT] {
        assert_eq!(patience_left(now - long, now), None);
        assert_eq!(patience_left(now + long, now), None);
    }
}
