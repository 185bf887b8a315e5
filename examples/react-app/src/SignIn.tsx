import { useMutation } from '@apollo/client/react';
import type { FormEvent } from 'react';
import { messageOf, visitor } from './api.ts';
import { SIGN_IN } from './operations.ts';

interface Props {
  /** Why the last session ended, or empty. */
  readonly notice: string;
  onSignIn(name: string, token: string): void;
}

export function SignIn({ notice, onSignIn }: Props) {
  const [signIn, { error, loading }] = useMutation(SIGN_IN, {
    client: visitor,
    fetchPolicy: 'no-cache',
    onCompleted: ({ sign_in }) => sign_in && onSignIn(sign_in.name, sign_in.token),
    onError: () => undefined, // `error` shows it
  });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void signIn({ variables: { email: String(form.get('email')), password: String(form.get('password')) } });
  }

  return (
    <main>
      <h1>Sign in</h1>
      {notice !== '' && <p role="status">{notice}</p>}
      <form className="sign-in" onSubmit={submit}>
        <label>
          E-mail address
          <input name="email" type="email" autoComplete="username" required />
        </label>
        <label>
          Password
          <input name="password" type="password" autoComplete="current-password" required />
        </label>
        <button type="submit" disabled={loading}>
          Sign in
        </button>
        {error && <p role="alert">{messageOf(error)}</p>}
      </form>
    </main>
  );
}
