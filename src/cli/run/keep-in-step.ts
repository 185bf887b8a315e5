/** The files of a project and the service that `svc dev` runs for it, which people change both: the one in an editor, the other in its console. */
import type { Kinds } from '../../metadata/kinds.ts';
import { applyChanges } from '../../project/directory/files.ts';
import { readMetadata, type ReadMetadata } from '../../project/directory/read-metadata.ts';
import { writeMetadata } from '../../project/directory/write-metadata.ts';
import { normalised, shapeProblems } from '../../project/document.ts';
import { printProblem, ProjectFailure } from '../../project/failure.ts';
import { inWordsOf } from '../../project/kept-spelling.ts';
import { mergeDocuments } from '../../project/merge-documents.ts';
import { applyMetadata, changesOf, exportFrom, isApplied, problemOf } from '../../project/project-metadata.ts';
import type { Project } from '../../project/project.ts';
import type { ServerClient } from '../../project/server-client.ts';
import { counted } from '../../util/counted.ts';
import type { JsonObject } from '../../util/json.ts';

export interface InStep {
  /** The service has what the files say. */
  agree(): Promise<void>;
  /**
   * Writes to the files what only the service has, applies what only they have, and where both have changed an object, applies that of the
   * files. What was never agreed on is theirs.
   * @param bringUp applies the files, and whatever else of the project; else their metadata is applied
   * @returns what was done, for people; '': nothing was to be done
   * @throws ProjectFailure
   */
  keep(project: Project, bringUp?: (project: Project) => Promise<string>): Promise<string>;
}

/** Somebody may click between any two of them. */
const ATTEMPTS = 5;

export function keepInStep(server: ServerClient, kinds: Kinds): InStep {
  /** What both had last, or the service had when the files were told of it; as it says it. */
  let base: JsonObject | undefined;
  const agree = async (): Promise<void> => {
    base = (await exportFrom(server)).metadata;
  };
  const keep = async (
    project: Project,
    bringUp: ((project: Project) => Promise<string>) | undefined,
    attempts: number,
  ): Promise<string> => {
    const { metadata: theirs, resourceVersion } = await exportFrom(server);
    const read = checked(project, kinds);
    const isMoved = base !== undefined && !isApplied(base, theirs, kinds);
    if (bringUp === undefined && isApplied(read.document, theirs, kinds)) {
      base = theirs;
      return '';
    }
    const told = isMoved && base !== undefined ? writeBack(project, read, base, theirs, kinds) : [];
    // The files have it now, also where the service does not take them: what is taken out of them again is not to come back.
    if (isMoved) base = theirs;
    if (bringUp !== undefined) return [...told, await bringUp(project)].join('\n');
    try {
      const applied = await applyMetadata(checked(project, kinds), server, kinds, { allowInconsistent: false, expected: resourceVersion });
      await agree();
      if (applied.sent) told.push(`metadata: ${counted(applied.changes.length, 'change')}`);
      return [...told, ...applied.inconsistencies.map((each) => printProblem(problemOf(each)))].join('\n');
    } catch (thrown) {
      const isFaster = thrown instanceof ProjectFailure && thrown.problems.some(({ code }) => code === 'conflict');
      if (!isFaster || attempts <= 1) throw thrown;
      return [...told, await keep(project, bringUp, attempts - 1)].join('\n').trim();
    }
  };
  return { agree, keep: (project, bringUp) => keep(project, bringUp, ATTEMPTS) };
}

/** @throws ProjectFailure */
function checked(project: Project, kinds: Kinds): ReadMetadata {
  const read = readMetadata(project.metadata);
  const problems = shapeProblems(read, kinds);
  if (problems.length > 0) throw new ProjectFailure(problems);
  return read;
}

/** @returns what is to be told; where nothing was written, nothing but what is lost */
function writeBack(project: Project, read: ReadMetadata, base: JsonObject, theirs: JsonObject, kinds: Kinds): string[] {
  const { files, metadata: at } = project;
  if ((at.overlays ?? []).length > 0) {
    const lost = changesOf(theirs, read.document, kinds).map(({ kind, object }) => `${kind} ${object}`);
    return lost.length === 0
      ? []
      : [`the files are those of all environments, so that what was changed in the service is not written: ${lost.join(', ')}`];
  }
  const [before, ours, now] = [base, read.document, theirs].map((document) => normalised(document, kinds) ?? document) as [
    JsonObject,
    JsonObject,
    JsonObject,
  ];
  const { document, conflicts } = mergeDocuments(before, ours, now);
  const { changes } = writeMetadata(at, inWordsOf(read.document, document, kinds));
  applyChanges(files, changes);
  return [
    ...[...changes].map(([path, text]) => `${text === null ? 'removed' : 'written'} ${files.show(path)}: changed in the service`),
    ...conflicts.map((object) => `changed in the files and in the service, which gets that of the files: ${object}`),
  ];
}
