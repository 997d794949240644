//! `fleetblast receive` while a search sends to it.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Error, Result, io_error};
use crate::process::{MINUTE, Tool, exit_code};

/// What its first line begins with, before the address and a semicolon.
const LISTENING: &str = "Listening at ";

/// A key of each site.
pub struct Keys {
    /// Of the search.
    pub here: Key,
    /// Of the report.
    pub there: Key,
}

/// The key of a site.
pub struct Key {
    /// Its file.
    pub file: PathBuf,
    /// What the other site knows it by.
    pub fingerprint: String,
}

impl Keys {
    /// Makes keys in two files that are named after `file`.
    ///
    /// # Errors
    /// If FleetBLAST makes none.
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
        Ok(Keys { here: key("here")?, there: key("there")? })
    }

    /// Removes the files.
    ///
    /// # Errors
    /// If they are gone.
    pub fn remove(&self) -> Result<()> {
        for key in [&self.here, &self.there] {
            fs::remove_file(&key.file).map_err(io_error("remove", &key.file))?;
        }
        Ok(())
    }
}

/// A process that listens.
pub struct Listener {
    child: Child,
    /// Where, if it does.
    pub address: Option<String>,
    said: JoinHandle<String>,
}

/// How one ended.
pub struct Ended {
    /// Exit code, or minus the signal's number.
    pub code: i32,
    /// What it said on standard error.
    pub said: Vec<u8>,
}

impl Listener {
    /// Starts one that writes its report to `report`, and waits until it listens or ends.
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
        let (key, report) = (keys.there.file.display().to_string(), report.display().to_string());
        let own = ["-listen", "127.0.0.1:0", "-key", &key, "-peer", &keys.here.fingerprint];
        let own = own.into_iter().chain(["-out", &report]).map(str::to_owned);
        let all: Vec<String> = own.chain(more.iter().cloned()).collect();
        let mut command = receive.command(&all, cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(io_error("start", &receive.program))?;
        let stderr = child.stderr.take();
        let (sender, heard) = mpsc::channel();
        let said = thread::spawn(move || stderr.map(|it| listen(it, &sender)).unwrap_or_default());
        Ok(Listener { child, address: address(&heard), said })
    }

    /// Waits until it has ended, or ends it after `limit`.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn end(mut self, limit: Duration) -> Result<Ended> {
        let deadline = Instant::now() + limit;
        let status = self.wait(deadline).map_err(io_error("wait for", Path::new("receive")))?;
        let said = self.said.join().unwrap_or_default().into_bytes();
        Ok(Ended { code: exit_code(status), said })
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

/// Everything that is said, of which the address is passed on at once.
fn listen(stderr: ChildStderr, address: &Sender<String>) -> String {
    let mut said = String::new();
    for line in BufReader::new(stderr).lines().map_while(std::result::Result::ok) {
        if let Some((_, rest)) = line.split_once(LISTENING) {
            // Nobody waits any more after a minute.
            let _ = address.send(rest.split(';').next().unwrap_or(rest).to_owned());
        }
        said += &line;
        said.push('\n');
    }
    said
}

/// The address, unless the process ends before it has one.
fn address(heard: &Receiver<String>) -> Option<String> {
    heard.recv_timeout(MINUTE).ok()
}
