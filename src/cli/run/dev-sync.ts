/** Two-way synchronisation of `svc dev`: metadata files are edited in an editor, the metadata of the service in its console. */
import type { Kinds } from '../../metadata/kinds.ts';
import { applyChanges } from '../../project/directory/files.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { normalised, shapeProblems } from '../../project/document.ts';
import { printProblem, ProjectFailure } from '../../project/failure.ts';
import { withSpellingOf } from '../../project/preserve-spelling.ts';
import { mergeDocuments } from '../../project/merge-documents.ts';
import { type Applied, applyMetadata, changesOf, exportFrom, isApplied, problemsOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';

export interface DevSync {
  /**
   * Writes changes of the service to the files and applies changes of the files to the service. If both have changed an object, and before
   * the first sync, the files win.
   * @throws ProjectFailure
   */
  apply(project: Project): Promise<Applied>;
  /**
   * Like `apply`, but does nothing if both are equal. With overlays, a change of the service stays until the files are edited.
   * @returns a report of what was applied, or the empty string
   * @throws ProjectFailure
   */
  run(project: Project): Promise<string>;
}

/** The metadata may change between any two attempts, and reading sources again also gives it another version. */
const ATTEMPTS = 10;

/** @param progress called with the files that are written, and the changes that are lost */
export function createDevSync(server: ServerClient, kinds: Kinds, progress: (message: string) => void): DevSync {
  /** Metadata of both after the last sync. */
  let agreed: { readonly files: JsonObject; readonly service: JsonObject } | undefined;
  const apply = async (project: Project, attempts: number): Promise<Applied> => {
    const { metadata: theirs, resourceVersion } = await exportFrom(server);
    const read = checked(project, kinds);
    if (agreed !== undefined && !isApplied(agreed.service, theirs, kinds) && !isApplied(read.document, theirs, kinds)) {
      if (hasOverlays(project)) reportLost(agreed.service, theirs, kinds, progress);
      else {
        writeBack(project, read, agreed.service, theirs, kinds, progress);
        // From now on, differences between files and service are changes of the files, even if the next step fails.
        agreed = { ...agreed, service: theirs };
      }
    }
    const merged = checked(project, kinds);
    try {
      const applied = await applyMetadata(merged, server, kinds, { allowInconsistent: false, expected: resourceVersion });
      const now = await exportFrom(server);
      // With another version, the service may have changed meanwhile; that change is not synchronised yet.
      agreed = { files: merged.document, service: now.resourceVersion === applied.resourceVersion ? now.metadata : merged.document };
      return applied;
    } catch (thrown) {
      const hasConflict = thrown instanceof ProjectFailure && thrown.problems.some(({ code }) => code === 'conflict');
      if (!hasConflict || attempts <= 1) throw thrown;
      return apply(project, attempts - 1);
    }
  };
  const run = async (project: Project): Promise<string> => {
    const { metadata: theirs } = await exportFrom(server);
    const read = checked(project, kinds);
    if (isApplied(read.document, theirs, kinds)) {
      agreed = { files: read.document, service: theirs };
      return '';
    }
    if (agreed !== undefined && isApplied(read.document, agreed.files, kinds)) {
      if (isApplied(agreed.service, theirs, kinds)) return '';
      if (hasOverlays(project)) {
        reportLost(agreed.service, theirs, kinds, progress);
        return '';
      }
    }
    const { sent, changes, inconsistencies } = await apply(project, ATTEMPTS);
    const report = sent ? [`metadata: ${counted(changes.length, 'change')}`] : [];
    return [...report, ...problemsOf(inconsistencies).map(printProblem)].join('\n');
  };
  return { apply: (project) => apply(project, ATTEMPTS), run };
}

const hasOverlays = ({ metadata }: Project): boolean => (metadata.overlays ?? []).length > 0;

/** @throws ProjectFailure */
function checked(project: Project, kinds: Kinds): ReadMetadata {
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return read;
}

function reportLost(base: JsonObject, theirs: JsonObject, kinds: Kinds, progress: (message: string) => void): void {
  const lost = changesOf(base, theirs, kinds).map(({ kind, object }) => `${kind} ${object}`);
  progress(
    `changes made in the service are not written, because the files belong to all environments; the next edit of the files reverts them: ${lost.join(', ')}`,
  );
}

function writeBack(
  { files, metadata: at }: Project,
  read: ReadMetadata,
  base: JsonObject,
  theirs: JsonObject,
  kinds: Kinds,
  progress: (message: string) => void,
): void {
  const [before, ours, now] = [base, read.document, theirs].map((document) => normalised(document, kinds) ?? document) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ];
  const { document, conflicts } = mergeDocuments(before, ours, now);
  const { changes } = writeMetadata(at, withSpellingOf(read.document, document, kinds));
  applyChanges(files, changes);
  for (const [path, text] of changes) progress(`${text === null ? 'removed' : 'written'} ${files.show(path)}: changed in the service`);
  for (const object of conflicts) progress(`changed both in the files and in the service; the files win: ${object}`);
}
