/** Finds likely mistakes in valid metadata, except those that the files accept. */
import type { MetadataFolder, ReadMetadata } from '../directory/read-metadata.ts';
import { orphansOf } from '../directory/write-metadata.ts';
import type { Problem } from '../failure.ts';
import { type Acceptance, acceptancesIn, acceptancesOfOrphan, type ReadAcceptances } from './acceptances.ts';
import { RULES, warningsOf } from './rules.ts';

export interface AcceptedWarning {
  readonly warning: Problem;
  readonly reason: string;
}

export interface LintResult {
  /** Warnings that are not accepted, invalid acceptances as errors, and acceptances without a warning as warnings. */
  readonly problems: readonly Problem[];
  readonly accepted: readonly AcceptedWarning[];
}

/** @param rules rules to apply; acceptances of others are ignored */
export function lintMetadata(at: MetadataFolder, read: ReadMetadata, rules: readonly string[] = RULES): LintResult {
  const orphans = at.file === undefined && rules.includes('orphan') ? orphansOf(at) : [];
  const warnings = [
    ...warningsOf(read),
    ...orphans.map(
      (path): Problem => ({ code: 'orphan', message: 'not included anywhere', file: at.files.show(path), severity: 'warning' }),
    ),
  ].filter(({ code }) => rules.includes(code));
  const found: ReadAcceptances[] = [
    ...[...read.files.values()].flatMap((file) => (typeof file === 'string' ? [] : [acceptancesIn(file)])),
    ...orphans.map((path) => acceptancesOfOrphan(at.files.show(path), at.files.read(path) ?? '')),
  ];
  const acceptances = found.flatMap((each) => each.acceptances).filter(({ rule }) => rules.includes(rule));
  return withAcceptances(
    warnings,
    acceptances,
    found.flatMap(({ problems }) => problems),
  );
}

function withAcceptances(warnings: readonly Problem[], acceptances: readonly Acceptance[], invalid: readonly Problem[]): LintResult {
  const problems: Problem[] = [...invalid];
  const accepted: AcceptedWarning[] = [];
  const used = new Set<Acceptance>();
  for (const warning of warnings) {
    const matching = acceptances.filter(({ rule, covers }) => rule === warning.code && covers(warning));
    // The innermost acceptance, which comes last, has the reason; outer ones are used too.
    for (const each of matching) used.add(each);
    const last = matching.at(-1);
    if (last === undefined) problems.push(warning);
    else accepted.push({ warning, reason: last.reason });
  }
  for (const acceptance of acceptances)
    if (!used.has(acceptance))
      problems.push({
        code: 'stale-acceptance',
        message: `the linter has no warning "${acceptance.rule}" for what follows this comment in this file: remove the comment`,
        severity: 'warning',
        ...acceptance.place,
      });
  return { problems, accepted };
}
