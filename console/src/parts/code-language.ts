/** Theme of the editor. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const highlighting = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--violet)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warn)' },
    { tag: [tags.propertyName, tags.variableName, tags.typeName], color: 'var(--accent)' },
    { tag: [tags.comment, tags.meta, tags.punctuation], color: 'var(--muted)' },
  ]),
);

export const look = EditorView.theme({
  '&': { height: '100%', fontSize: '0.8125rem', backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.25rem' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--hover) 60%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--border)',
    borderRadius: '0.375rem',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '15rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.1875rem 0.5rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-fill)', color: '#fff' },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.85', fontStyle: 'normal', marginLeft: '0.75rem' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-panels': { backgroundColor: 'var(--bg)', color: 'var(--text)', borderColor: 'var(--border)' },
  '.cm-running': { boxShadow: 'inset 3px 0 0 var(--accent)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-diagnostic': { borderLeftColor: 'var(--danger)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--accent-soft) !important', outline: 'none' },
});
