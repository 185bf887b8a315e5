import { useDraft } from '../../browser/drafts.ts';
import { go, hrefOf } from '../../browser/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { DefinitionForm } from './definition-form.tsx';
import type { DefinitionDraft } from './definition-draft.ts';
import type { ActionsMetadata } from './read-actions.ts';

export function NewAction({ all }: { readonly all: ActionsMetadata }) {
  const [draft, setDraft] = useDraft<DefinitionDraft>('action');
  return (
    <div class="page">
      <header class="crumbs">
        <a href={hrefOf(['actions'])}>Actions</a>
        <Icon name="right" />
        <h1>New action</h1>
      </header>
      <DefinitionForm all={all} action={undefined} draft={draft} onDraft={setDraft} onSaved={(name) => go(['actions', name])} />
    </div>
  );
}
