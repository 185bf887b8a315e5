/** Order and text of the findings of `svc doctor`. */
import type { Finding } from '../../backend/diagnostics.ts';
import { counted } from '../../util/counted.ts';

export type Add = (id: string, severity: Finding['severity'], cause: string, remedy: string) => void;

/** Kinds of advice. They can come in hundreds, and are printed last. */
const ADVICE = /^(?:lint:|orphan$)/;
/** Maximum number of printed findings of one kind of advice. */
const MAX_PRINTED = 3;

/** Sorts errors first, then warnings, then advice; within each, the rarest kind first. */
export function rankFindings(findings: readonly Finding[]): readonly Finding[] {
  const counts = new Map<string, number>();
  for (const { id } of findings) counts.set(id, (counts.get(id) ?? 0) + 1);
  const rank = ({ id, severity }: Finding): number => (severity === 'error' ? 0 : ADVICE.test(id) ? 2 : 1);
  return findings
    .map((finding, place) => ({ finding, place, count: counts.get(finding.id) ?? 0 }))
    .sort(
      (a, b) =>
        rank(a.finding) - rank(b.finding) ||
        a.count - b.count ||
        (a.finding.id < b.finding.id ? -1 : a.finding.id > b.finding.id ? 1 : a.place - b.place),
    )
    .map(({ finding }) => finding);
}

/** @param ranked findings sorted by `rankFindings` */
export function printFindings(ranked: readonly Finding[]): string {
  if (ranked.length === 0) return 'nothing found';
  const lines: string[] = [];
  const seen = new Map<string, number>();
  for (const { id, severity, cause, remedy } of ranked) {
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    if (ADVICE.test(id) && severity === 'warning' && before >= MAX_PRINTED) continue;
    const word = ADVICE.test(id) && severity === 'warning' ? 'advice' : severity;
    lines.push(`${word} [${id}] ${cause}`, `  -> ${remedy}`);
    const more = before === MAX_PRINTED - 1 ? ranked.filter((each) => each.id === id).length - MAX_PRINTED : 0;
    if (more > 0 && ADVICE.test(id)) lines.push(`  and ${more} more of this kind; svc doctor --json lists all`);
  }
  const errors = ranked.filter(({ severity }) => severity === 'error').length;
  const advice = ranked.filter(({ id, severity }) => severity === 'warning' && ADVICE.test(id)).length;
  const warnings = ranked.length - errors - advice;
  return [`${counted(errors, 'error')}, ${counted(warnings, 'warning')}, ${advice} advice`, ...lines].join('\n');
}
