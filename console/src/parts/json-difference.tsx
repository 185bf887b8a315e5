import { type Json, printJson } from '../model/json.ts';
import { MoreList } from './more-list.tsx';

/** Lines of each side shown at first. */
const FIRST_LINES = 400;

/** Line difference of two values. */
export function JsonDifference({
  before,
  after,
  name = 'Changed lines',
}: {
  /** Undefined for a new value. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly name?: string;
}) {
  const linesOf = (json: Json | undefined): readonly string[] => (json === undefined ? [] : printJson(json, 2).split('\n'));
  const [old, now] = [linesOf(before), linesOf(after)];
  const common = (lines: readonly string[], others: readonly string[]): number => {
    let count = 0;
    while (count < lines.length && count < others.length && lines[count] === others[count]) count++;
    return count;
  };
  const start = common(old, now);
  const end = Math.min(common(old.toReversed(), now.toReversed()), Math.min(old.length, now.length) - start);
  const context = 2;
  return (
    <section class="diff" tabIndex={0} aria-label={name}>
      {old.slice(Math.max(0, start - context), start).map((line, index) => (
        <div key={`a${index}`}>{`  ${line}`}</div>
      ))}
      <MoreList
        items={old.slice(start, old.length - end)}
        first={FIRST_LINES}
        what="removed lines"
        item={(line, index) => <div key={`b${index}`} class="minus">{`− ${line}`}</div>}
      />
      <MoreList
        items={now.slice(start, now.length - end)}
        first={FIRST_LINES}
        what="added lines"
        item={(line, index) => <div key={`c${index}`} class="plus">{`+ ${line}`}</div>}
      />
      {now.slice(now.length - end, now.length - end + context).map((line, index) => (
        <div key={`d${index}`}>{`  ${line}`}</div>
      ))}
    </section>
  );
}
