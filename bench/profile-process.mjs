// Preloaded into a service that `profile.mjs` measures: the first SIGUSR2 starts a CPU profile, the second one writes it to $PROFILE_FILE.
import fs from 'node:fs';
import { Session } from 'node:inspector/promises';

let session;
process.on('SIGUSR2', async () => {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: 100 });
    await session.post('Profiler.start');
    fs.writeFileSync(`${process.env.PROFILE_FILE}.started`, '');
    return;
  }
  const { profile } = await session.post('Profiler.stop');
  session = undefined;
  fs.writeFileSync(`${process.env.PROFILE_FILE}.part`, JSON.stringify(profile));
  fs.renameSync(`${process.env.PROFILE_FILE}.part`, process.env.PROFILE_FILE);
});
