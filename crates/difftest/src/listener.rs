//! Runs `fleetblast receive` at one end of a link, while a search sends metadata to it.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Error, Result, io_error};
use crate::process::{MINUTE, Tool, exit_code};

/// Start of the first line that `fleetblast receive` prints. The address and a semicolon follow.
const LISTENING: &str = "Listening at ";

/// The keys of both sites of a link.
pub struct Keys {
    /// Key of the search site.
    pub search_site: Key,
    /// Key of the I/O site.
    pub io_site: Key,
}

/// The key of a site.
pub struct Key {
    /// File that contains the key.
    pub file: PathBuf,
    /// Fingerprint by which the other site recognises the key.
    pub fingerprint: String,
}

impl Keys {
    /// Makes the keys of both sites in two files named after `file`.
    ///
    /// # Errors
    /// If FleetBLAST cannot make them.
    pub fn make(keygen: &Tool, file: &Path) -> Result<Keys> {
        let key = |of: &str| {
            let file = file.with_extension(of);
            let named = [file.display().to_string()];
            let made = keygen.run(&named, Path::new("."), None, MINUTE)?;
            let fingerprint = String::from_utf8_lossy(&made.stdout).trim().to_owned();
            match made.code {
                0 => Ok(Key { file, fingerprint }),
                code => Err(Error::Usage(format!("keygen ended with {code}"))),
            }
        };
        Ok(Keys { search_site: key("here")?, io_site: key("there")? })
    }

    /// Removes the files of both keys.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn remove(&self) -> Result<()> {
        for key in [&self.search_site, &self.io_site] {
            fs::remove_file(&key.file).map_err(io_error("remove", &key.file))?;
        }
        Ok(())
    }
}

/// A process of `fleetblast receive`.
pub struct Listener {
    child: Child,
    /// Address of the process; `None` if it does not listen.
    pub address: Option<String>,
    stderr: JoinHandle<String>,
}

/// The result of a process of `fleetblast receive`.
pub struct ReceiverExit {
    /// Exit code, or minus the number of the signal that ended the process.
    pub code: i32,
    /// Bytes of standard error.
    pub stderr: Vec<u8>,
}

impl Listener {
    /// Starts a process that writes its report to `report`, and waits until it listens or ends.
    /// `more` are further arguments.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(
        receive: &Tool,
        cwd: &Path,
        keys: &Keys,
        report: &Path,
        more: &[String],
    ) -> Result<Listener> {
        let (key, report) = (keys.io_site.file.display().to_string(), report.display().to_string());
        let own = ["-listen", "127.0.0.1:0", "-key", &key, "-peer", &keys.search_site.fingerprint];
        let own = own.into_iter().chain(["-out", &report]).map(str::to_owned);
        let all: Vec<String> = own.chain(more.iter().cloned()).collect();
        let mut command = receive.command(&all, cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(io_error("start", &receive.program))?;
        let stderr = child.stderr.take();
        let (sender, received) = mpsc::channel();
        let lines = thread::spawn(move || stderr.map(|it| listen(it, &sender)).unwrap_or_default());
        Ok(Listener { child, address: address(&received), stderr: lines })
    }

    /// Waits until the process has ended, or kills it after `limit`.
    ///
    /// # Errors
    /// If waiting for the process fails.
    pub fn end(mut self, limit: Duration) -> Result<ReceiverExit> {
        let deadline = Instant::now() + limit;
        let status = self.wait(deadline).map_err(io_error("wait for", Path::new("receive")))?;
        let stderr = self.stderr.join().unwrap_or_default().into_bytes();
        Ok(ReceiverExit { code: exit_code(status), stderr })
    }

    fn wait(&mut self, deadline: Instant) -> io::Result<ExitStatus> {
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.child.kill()?;
        self.child.wait()
    }
}

/// Returns all of standard error, and sends the address as soon as it appears.
fn listen(stderr: ChildStderr, address: &Sender<String>) -> String {
    let mut text = String::new();
    for line in BufReader::new(stderr).lines().map_while(std::result::Result::ok) {
        if let Some((_, rest)) = line.split_once(LISTENING) {
            // After a minute nobody waits for the address any more.
            let _ = address.send(rest.split(';').next().unwrap_or(rest).to_owned());
        }
        text += &line;
        text.push('\n');
    }
    text
}

/// Returns the address at which the process listens. Returns `None` if the process ends or a minute
/// passes before it listens.
fn address(received: &Receiver<String>) -> Option<String> {
    received.recv_timeout(MINUTE).ok()
}
