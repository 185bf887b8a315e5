import { Button } from './button.tsx';

interface DraftTabsProps {
  readonly name: string;
  readonly tabs: readonly { readonly id: number; readonly label: string }[];
  readonly chosen: number;
  onChoose(id: number): void;
  onClose(id: number): void;
  onNew(): void;
}

/** Tabs of open texts, which can be opened and closed. */
export function DraftTabs({ name, tabs, chosen, onChoose, onClose, onNew }: DraftTabsProps) {
  return (
    <>
      <div class="draft-tabs" role="tablist" aria-label={name}>
        {tabs.map(({ id, label }) => (
          <span key={id} role="presentation" class={`draft-tab${id === chosen ? ' is-chosen' : ''}`}>
            <button type="button" role="tab" aria-selected={id === chosen} onClick={() => onChoose(id)}>
              {label}
            </button>
            {tabs.length > 1 && id === chosen && <Button kind="link" icon="cross" name="Close tab" onClick={() => onClose(id)} />}
          </span>
        ))}
      </div>
      <Button small kind="quiet" icon="plus" name="New tab" onClick={onNew} />
    </>
  );
}
