import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

export interface ButtonProps {
  readonly children?: ComponentChildren;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet' | 'link';
  readonly icon?: IconName;
  /** Accessible name of a button with only an icon. */
  readonly name?: string;
  readonly small?: boolean;
  readonly type?: 'button' | 'submit';
  readonly title?: string | undefined;
  readonly pressed?: boolean;
  readonly expanded?: boolean;
  /** Reason why the button is disabled, as its title; it stays focusable. */
  readonly refusal?: string | undefined;
  readonly autofocus?: boolean;
  readonly class?: string;
  readonly popup?: 'menu' | 'dialog';
  onClick?(event: MouseEvent): void;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', icon, name, small = false, type = 'button', title, pressed, expanded, refusal, onClick } = props;
  const classes =
    kind === 'link'
      ? ['button-link']
      : ['button', kind === 'plain' ? '' : `button-${kind}`, children === undefined ? 'button-icon' : '', small ? 'button-small' : ''];
  return (
    <button
      type={type}
      class={[...classes, props.class ?? ''].filter((each) => each !== '').join(' ')}
      title={refusal ?? title ?? (children === undefined ? name : undefined)}
      aria-label={name}
      aria-pressed={pressed}
      aria-expanded={expanded}
      aria-haspopup={props.popup}
      aria-disabled={refusal === undefined ? undefined : true}
      autofocus={props.autofocus}
      onClick={(event) => {
        if (refusal !== undefined) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}
