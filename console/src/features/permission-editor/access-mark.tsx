import type { Access } from '../../model/overview.ts';

/** Extent of a permission as a word and a shape. The shape is in the style sheet, so that grids of thousands stay small. */
export function AccessMark({ access, note }: { readonly access: Access; readonly note?: string | undefined }) {
  return (
    <span class={`access access-${access}`}>
      {access === 'part' ? 'partial' : access}
      {note !== undefined && ' '}
      {note !== undefined && <span class="muted small">{note}</span>}
    </span>
  );
}
