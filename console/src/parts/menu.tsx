import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, type ButtonProps } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { placeBelow } from './place-below.ts';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly danger?: boolean;
  readonly refusal?: string | undefined;
  run(): void;
}

interface MenuProps extends Omit<ButtonProps, 'onClick' | 'expanded' | 'popup'> {
  readonly items: readonly MenuItem[];
  readonly children?: ComponentChildren;
}

/** A menu button with the ARIA pattern: arrow keys move, Escape closes, the focus returns. */
export function Menu({ items, ...button }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = menu;
    if (!isOpen || current === null || place.current === null) return;
    current.showPopover();
    placeBelow(current, place.current);
    current.querySelector('button')?.focus();
  }, [isOpen]);
  const move = (step: number): void => {
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };
  const close = (): void => {
    setOpen(false);
    place.current?.querySelector('button')?.focus();
  };
  return (
    <span ref={place}>
      <Button {...button} popup="menu" expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      {isOpen && (
        <div
          ref={menu}
          class="menu"
          role="menu"
          tabIndex={-1}
          popover="auto"
          onToggle={(event) => {
            if (event.newState === 'closed') setOpen(false);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') move(1);
            else if (event.key === 'ArrowUp') move(-1);
            else if (event.key === 'Escape' || event.key === 'Tab') close();
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              class={item.danger === true ? 'danger' : ''}
              title={item.refusal}
              aria-disabled={item.refusal === undefined ? undefined : true}
              onClick={() => {
                if (item.refusal !== undefined) return;
                close();
                item.run();
              }}
            >
              {item.icon !== undefined && <Icon name={item.icon} />}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
