import { useState } from 'preact/hooks';
import { useResource } from '../../api/use-resource.ts';
import { CodeForms } from '../../parts/code-forms.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { CODE_FORMS, type CodeForm } from './use-explorer.ts';

const NOTES: Readonly<Record<CodeForm, string>> = {
  curl: 'Runs in a shell.',
  fetch: 'Runs with Node.js.',
  urql: 'Needs the packages @urql/core and graphql.',
  Apollo: 'Needs the packages @apollo/client and graphql.',
  TypeScript: 'Types of the variables and of the data of this operation, for any client.',
};

/** The request as code. @param props.codeOf returns it in a form; rejects if the request is invalid */
export function CodeDialog({ codeOf, onClose }: { codeOf(form: CodeForm): Promise<string>; onClose(): void }) {
  const [form, setForm] = useState<CodeForm>('fetch');
  const { value, failure } = useResource(() => codeOf(form), form);
  return (
    <Dialog title="Code of the request" kind="wide" onClose={onClose}>
      <CodeForms
        name="Form of the code"
        options={CODE_FORMS.map((each) => [each, each] as const)}
        chosen={form}
        text={value ?? ''}
        onChoose={setForm}
      />
      <p class="muted small">{NOTES[form]} Secrets are read from environment variables.</p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {value === undefined && failure === undefined && <Loading what="the code" />}
      {value !== undefined && (
        <pre class="code-block mono" tabIndex={0}>
          {value}
        </pre>
      )}
    </Dialog>
  );
}
