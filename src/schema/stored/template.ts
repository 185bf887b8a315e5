/** The URL of a REST endpoint as a pattern: `author/:id` has a literal and a variable. */

export type Segment = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'variable'; readonly name: string };

/** Returns the segments, or the reason why the URL is invalid. */
export function parseTemplate(url: string): readonly Segment[] | string {
  const segments = url
    .split('/')
    .map((text): Segment => (text.startsWith(':') ? { kind: 'variable', name: text.slice(1) } : { kind: 'literal', text }));
  if (segments.some((segment) => (segment.kind === 'literal' ? segment.text : segment.name) === '')) {
    return `Empty segments or unnamed variables are not allowed: ${url}`;
  }
  const names = segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []));
  return new Set(names).size < names.length ? `Duplicate variables found in endpoint path: ${url}` : segments;
}

/** Returns true if some path matches both. */
export function overlaps(a: readonly Segment[], b: readonly Segment[]): boolean {
  return (
    a.length === b.length &&
    a.every((segment, i) => {
      const other = b[i] as Segment;
      return segment.kind === 'variable' || other.kind === 'variable' || segment.text === other.text;
    })
  );
}
