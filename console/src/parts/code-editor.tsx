import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Editor } from './code-editor-view.ts';
import type { RangeAt } from './running-range.ts';
import type { CodeLanguage, CodeMark, Completions } from './code-editor-types.ts';

/** Methods of an editor for pages. */
export type EditorHandle = Pick<Editor, 'selection' | 'insert' | 'replace' | 'select' | 'focus'>;

interface CodeEditorProps {
  readonly name: string;
  readonly value: string;
  readonly language: CodeLanguage;
  readonly readOnly?: boolean;
  readonly hint?: string;
  readonly height?: string;
  readonly marks?: readonly CodeMark[];
  /** Columns by table, for SQL. */
  readonly tables?: Readonly<Record<string, readonly string[]>>;
  readonly handle?: { current: EditorHandle | null };
  onChange?(value: string): void;
  onRun?(): void;
  complete?(text: string, at: number): Promise<Completions | null>;
  /** Part that a run would send, to be marked; undefined for none. */
  rangeAt?: RangeAt;
  /** Called when the selection becomes empty or is no longer empty. */
  onSelect?(hasSelection: boolean): void;
}

/** An editor in a shadow root, so that its styles comply with the content security policy of the page. */
export function CodeEditor(props: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [editor, setEditor] = useState<Editor | null>(null);
  const { value, language, height, marks, tables, handle } = props;
  useEffect(() => {
    const { current } = host;
    if (current === null) return;
    let opened: Editor | undefined;
    let isUnmounted = false;
    void import('./code-editor-view.ts').then(({ openEditor }) => {
      if (isUnmounted) return;
      const root = current.shadowRoot ?? current.attachShadow({ mode: 'open' });
      root.replaceChildren();
      opened = openEditor({
        parent: root,
        label: props.name,
        value: latest.current.value,
        language,
        isReadOnly: props.readOnly ?? false,
        hint: props.hint,
        onChange: (next) => latest.current.onChange?.(next),
        onRun: () => latest.current.onRun?.(),
        onSelect: (hasSelection) => latest.current.onSelect?.(hasSelection),
        rangeAt: props.rangeAt === undefined ? undefined : (text, at) => latest.current.rangeAt?.(text, at),
        complete: (text, at) => latest.current.complete?.(text, at) ?? Promise.resolve(null),
      });
      if (handle !== undefined) handle.current = opened;
      setEditor(opened);
    });
    return () => {
      isUnmounted = true;
      if (handle !== undefined) handle.current = null;
      opened?.destroy();
    };
  }, [language, props.readOnly]);
  // In a layout effect: a late update with the previous text would remove the letter typed since.
  useLayoutEffect(() => editor?.setValue(value), [editor, value]);
  useEffect(() => editor?.setMarks(marks ?? []), [editor, marks]);
  useEffect(() => {
    if (tables !== undefined) editor?.setTables(tables);
  }, [editor, tables]);
  return <div ref={host} class="code-editor" style={{ height: height ?? '12.5rem' }} />;
}
