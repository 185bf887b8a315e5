import type { Access } from '../../model/overview.ts';

const WORDS: Readonly<Record<Access, string>> = { all: 'all', part: 'part', none: 'none' };

/** How much a role may do: by shape and word, not by colour alone. */
export function AccessMark({ access, note }: { readonly access: Access; readonly note?: string | undefined }) {
  return (
    <span class={`access access-${access}`}>
      <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
        {access === 'all' && <circle cx="6" cy="6" r="5" fill="currentColor" />}
        {access === 'part' && (
          <>
            <circle cx="6" cy="6" r="4.500" fill="none" stroke="currentColor" />
            <path d="M6 1a5 5 0 0 1 0 10z" fill="currentColor" />
          </>
        )}
        {access === 'none' && <path d="M2.500 6h7" stroke="currentColor" />}
      </svg>
      {WORDS[access]}
      {note !== undefined && ' '}
      {note !== undefined && <span class="muted small">{note}</span>}
    </span>
  );
}
