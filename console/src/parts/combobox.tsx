import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Field } from './field.tsx';
import { placeBelow } from './place-below.ts';

export interface Option {
  readonly value: string;
  readonly note?: string;
}

interface ComboboxProps {
  /** Id for an external label. */
  readonly id?: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly placeholder?: string;
  /** Accepts only listed values. */
  readonly strict?: boolean;
  /** Calls `onChange` for each letter, not only for a choice. */
  readonly isLive?: boolean;
  readonly small?: boolean;
  readonly invalid?: boolean;
  readonly size?: number;
  onChange(value: string): void;
}

const MAX_OPTIONS = 200;

/** A combobox with a label. */
export function ComboboxField({
  label,
  hint,
  ...rest
}: Omit<ComboboxProps, 'id' | 'name'> & { readonly label: string; readonly hint?: ComponentChildren }) {
  return (
    <Field label={label} hint={hint}>
      {(id) => <Combobox id={id} name={label} {...rest} />}
    </Field>
  );
}

/** A text field with suggestions, with the ARIA combobox pattern. */
export function Combobox(props: ComboboxProps) {
  const { id: inputId, name, value, placeholder, small = false, invalid = false, size } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const { typed, active, shown, isOpen, ...handlers } = useSuggestions(props);
  useEffect(() => {
    if (!isOpen || list.current === null || input.current === null) return;
    if (!list.current.matches(':popover-open')) list.current.showPopover();
    list.current.style.minWidth = `${input.current.getBoundingClientRect().width}px`;
    placeBelow(list.current, input.current);
  }, [isOpen, shown.length]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const isListed = isOpen && shown.length > 0;
  return (
    <span class="combobox">
      <input
        ref={input}
        id={inputId}
        class={`input${small ? ' input-small' : ''}`}
        role="combobox"
        size={size}
        aria-label={name}
        aria-expanded={isListed}
        aria-controls={id}
        aria-autocomplete="list"
        aria-invalid={invalid || undefined}
        aria-activedescendant={isListed ? `${id}-${active}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={typed ?? value}
        onFocus={(event) => event.currentTarget.select()}
        onClick={handlers.open}
        onInput={(event) => handlers.type(event.currentTarget.value)}
        onBlur={handlers.leave}
        onKeyDown={handlers.press}
      />
      <ul ref={list} id={id} class="listbox" role="listbox" aria-label={name} popover="manual" hidden={!isListed}>
        {shown.map((option, index) => (
          <li
            key={option.value}
            id={`${id}-${index}`}
            class="option"
            role="option"
            aria-selected={index === active}
            onMouseDown={(event) => {
              event.preventDefault();
              handlers.choose(option.value);
            }}
          >
            {option.value}
            {option.note !== undefined && <span class="note">{option.note}</span>}
          </li>
        ))}
      </ul>
    </span>
  );
}

/** State of the list: the text as typed, `null` while the list is closed, and the active option. */
function useSuggestions({ value, options, strict = false, isLive = false, onChange }: ComboboxProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  /** True once the arrow keys have moved to an option. */
  const [hasMoved, setMoved] = useState(false);
  const isOpen = typed !== null;
  const query = (typed ?? '').toLowerCase();
  const shown = isOpen
    ? options
        .filter((option) => option.value.toLowerCase().includes(query))
        .sort((a, b) => Number(b.value.toLowerCase().startsWith(query)) - Number(a.value.toLowerCase().startsWith(query)))
        .slice(0, MAX_OPTIONS)
    : [];
  const choose = (chosen: string): void => {
    setTyped(null);
    onChange(chosen);
  };
  const open = (): void => {
    if (!isOpen) setTyped('');
    setActive(0);
    setMoved(false);
  };
  const type = (text: string): void => {
    setTyped(text);
    setActive(0);
    setMoved(false);
    if (isLive) onChange(text);
  };
  const leave = (): void => {
    if (typed === null) return;
    const exact = options.find((option) => option.value === typed);
    setTyped(null);
    if (typed !== '' && (!strict || exact !== undefined) && typed !== value) onChange(typed);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      setMoved(true);
      if (!isOpen) setTyped('');
      else setActive((active + (event.key === 'ArrowDown' ? 1 : shown.length - 1)) % Math.max(1, shown.length));
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      // The dialog handles Ctrl+Enter, with the text of this field.
      leave();
      return;
    } else if (event.key === 'Enter' && isLive && !hasMoved) {
      // The text as typed is the value. The dialog may handle Enter.
      leave();
      return;
    } else if (event.key === 'Enter' && isOpen) {
      const found = shown[active];
      if (found !== undefined && (typed !== '' || active > 0)) choose(found.value);
      else leave();
    } else if (event.key === 'Escape' && isOpen) setTyped(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return { typed, active, shown, isOpen, open, type, leave, press, choose };
}
