// CPU time of processes with their children, from /proc: Linux only.
import fs from 'node:fs';
import { preciseCpuOf } from './support.mjs';

/** @returns pid -> name, parent, and CPU time in ms of its children that have ended */
function processes() {
  const found = new Map();
  if (!fs.existsSync('/proc/self/stat')) return found;
  for (const pid of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
      const end = text.lastIndexOf(')');
      const fields = text.slice(end + 2).split(' ');
      const name = text.slice(text.indexOf('(') + 1, end);
      found.set(Number(pid), { name, parent: Number(fields[1]), ended: (Number(fields[13]) + Number(fields[14])) * 10 });
    } catch {
      // The process has ended.
    }
  }
  return found;
}

/** CPU time of a process, of its children and of those that have ended, in ms; NaN if there is no such process here. */
export function cpuOfTree(root) {
  const all = processes();
  if (!all.has(root)) return Number.NaN;
  const belongs = (pid) => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  let total = 0;
  for (const [pid, { ended }] of all) if (belongs(pid)) total += (preciseCpuOf(pid) || 0) + ended;
  return total;
}

/** @returns the process that listens on a port of this machine, or null if it is unknown or only passes connections on */
export function listenerOf(port) {
  const inodes = new Set();
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6'].filter((each) => fs.existsSync(each))) {
    for (const line of fs.readFileSync(file, 'latin1').split('\n')) {
      const fields = line.trim().split(/\s+/);
      const isListening = fields[3] === '0A';
      if (isListening && Number.parseInt(fields[1].split(':').at(-1), 16) === port) inodes.add(`socket:[${fields[9]}]`);
    }
  }
  if (inodes.size === 0) return null;
  for (const [pid, { name }] of processes()) if (name !== 'docker-proxy' && holdsSocket(pid, inodes)) return pid;
  return null;
}

function holdsSocket(pid, inodes) {
  try {
    return fs.readdirSync(`/proc/${pid}/fd`).some((number) => {
      try {
        return inodes.has(fs.readlinkSync(`/proc/${pid}/fd/${number}`));
      } catch {
        return false;
      }
    });
  } catch {
    // The process has ended, or belongs to another user.
    return false;
  }
}

/** @returns the name and the parent of a process, or undefined if there is no such process here */
export function processOf(pid) {
  return processes().get(pid);
}
