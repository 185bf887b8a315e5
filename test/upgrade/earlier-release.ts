/** The service of the release before this one. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Commit of the release before. Until there is a release, an earlier commit stands in: one that knows the oldest reader (ADR 30). */
export const EARLIER = '51786154';

const SCRIPT = fileURLToPath(new URL('../../scripts/earlier-release.mjs', import.meta.url));
/** Exit code of the script if the history is shallow. */
const NOT_THERE = 3;

/** Builds the earlier release once. Returns the path of its command, or the reason why there is none. @throws Error if the build fails */
export function buildEarlierRelease(): { readonly main: string } | { readonly missing: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, EARLIER], { encoding: 'utf8' });
  if (status === 0) return { main: stdout.trim() };
  if (status === NOT_THERE) return { missing: stderr.trim() };
  throw new Error(`the earlier release cannot be built: ${stderr}`);
}
