import type { Access } from '../../model/overview.ts';

const WORDS: Readonly<Record<Access, string>> = { all: 'all', part: 'part', none: 'none' };

/** How much a role may do: by shape and word, not by colour alone. The shape is of the style, so that grids of thousands stay small. */
export function AccessMark({ access, note }: { readonly access: Access; readonly note?: string | undefined }) {
  return (
    <span class={`access access-${access}`}>
      {WORDS[access]}
      {note !== undefined && ' '}
      {note !== undefined && <span class="muted small">{note}</span>}
    </span>
  );
}
