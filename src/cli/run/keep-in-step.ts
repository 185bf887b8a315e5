/** The files of a project and the service that `svc dev` runs for it, which people change both: the one in an editor, the other in its console. */
import type { Kinds } from '../../metadata/kinds.ts';
import { applyChanges } from '../../project/directory/files.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { normalised, shapeProblems } from '../../project/document.ts';
import { printProblem, ProjectFailure } from '../../project/failure.ts';
import { inWordsOf } from '../../project/kept-spelling.ts';
import { mergeDocuments } from '../../project/merge-documents.ts';
import { type Applied, applyMetadata, changesOf, exportFrom, isApplied, problemsOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';

export interface InStep {
  /**
   * Writes to the files what only the service has, applies what only they have, and where both have changed an object, applies that of the
   * files. What was never agreed on is theirs.
   * @throws ProjectFailure
   */
  apply(project: Project): Promise<Applied>;
  /**
   * The same where there is something to do. With overlays a change of the service stays until the files are edited.
   * @returns what was applied, for people; '': nothing
   * @throws ProjectFailure
   */
  keep(project: Project): Promise<string>;
}

/** Somebody may click between any two of them, and reading sources anew gives the metadata another version. */
const ATTEMPTS = 10;

/** @param tell told of what is written to the files, and of what is lost */
export function keepInStep(server: ServerClient, kinds: Kinds, tell: (message: string) => void): InStep {
  /** What both had last. */
  let agreed: { readonly files: JsonObject; readonly service: JsonObject } | undefined;
  const apply = async (project: Project, attempts: number): Promise<Applied> => {
    const { metadata: theirs, resourceVersion } = await exportFrom(server);
    const read = checked(project, kinds);
    if (agreed !== undefined && !isApplied(agreed.service, theirs, kinds) && !isApplied(read.document, theirs, kinds)) {
      if (hasOverlays(project)) tellLost(agreed.service, theirs, kinds, tell);
      else {
        writeBack(project, read, agreed.service, theirs, kinds, tell);
        // Whatever comes of the rest: what the files do not say as the service does is from now on their change alone.
        agreed = { ...agreed, service: theirs };
      }
    }
    const wanted = checked(project, kinds);
    try {
      const applied = await applyMetadata(wanted, server, kinds, { allowInconsistent: false, expected: resourceVersion });
      const now = await exportFrom(server);
      // Of another version it may have what somebody has clicked meanwhile, which nobody has agreed on.
      agreed = { files: wanted.document, service: now.resourceVersion === applied.resourceVersion ? now.metadata : wanted.document };
      return applied;
    } catch (thrown) {
      const isFaster = thrown instanceof ProjectFailure && thrown.problems.some(({ code }) => code === 'conflict');
      if (!isFaster || attempts <= 1) throw thrown;
      return apply(project, attempts - 1);
    }
  };
  const keep = async (project: Project): Promise<string> => {
    const { metadata: theirs } = await exportFrom(server);
    const read = checked(project, kinds);
    if (isApplied(read.document, theirs, kinds)) {
      agreed = { files: read.document, service: theirs };
      return '';
    }
    if (agreed !== undefined && isApplied(read.document, agreed.files, kinds)) {
      if (isApplied(agreed.service, theirs, kinds)) return '';
      if (hasOverlays(project)) {
        tellLost(agreed.service, theirs, kinds, tell);
        return '';
      }
    }
    const { sent, changes, inconsistencies } = await apply(project, ATTEMPTS);
    const told = sent ? [`metadata: ${counted(changes.length, 'change')}`] : [];
    return [...told, ...problemsOf(inconsistencies).map(printProblem)].join('\n');
  };
  return { apply: (project) => apply(project, ATTEMPTS), keep };
}

const hasOverlays = ({ metadata }: Project): boolean => (metadata.overlays ?? []).length > 0;

/** @throws ProjectFailure */
function checked(project: Project, kinds: Kinds): ReadMetadata {
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return read;
}

function tellLost(base: JsonObject, theirs: JsonObject, kinds: Kinds, tell: (message: string) => void): void {
  const lost = changesOf(base, theirs, kinds).map(({ kind, object }) => `${kind} ${object}`);
  tell(
    `the files are those of all environments, so that what was changed in the service is not written, and an edit of them takes it back: ${lost.join(', ')}`,
  );
}

function writeBack(
  { files, metadata: at }: Project,
  read: ReadMetadata,
  base: JsonObject,
  theirs: JsonObject,
  kinds: Kinds,
  tell: (message: string) => void,
): void {
  const [before, ours, now] = [base, read.document, theirs].map((document) => normalised(document, kinds) ?? document) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ];
  const { document, conflicts } = mergeDocuments(before, ours, now);
  const { changes } = writeMetadata(at, inWordsOf(read.document, document, kinds));
  applyChanges(files, changes);
  for (const [path, text] of changes) tell(`${text === null ? 'removed' : 'written'} ${files.show(path)}: changed in the service`);
  for (const object of conflicts) tell(`changed in the files and in the service, which gets that of the files: ${object}`);
}
