import { ApolloProvider } from '@apollo/client/react';
import { useState } from 'react';
import { type Session, startSession } from './api.ts';
import { SignIn } from './SignIn.tsx';
import { Tasks } from './Tasks.tsx';

export function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [isLive, setLive] = useState(false);
  const [notice, setNotice] = useState('');

  function start(name: string, token: string): void {
    const started = startSession(name, token, { onLive: setLive, onExpired: () => end(started, 'Your session has ended. Sign in again.') });
    setSession(started);
  }

  function end(ended: Session, reason: string): void {
    ended.stop();
    setSession(null);
    setNotice(reason);
  }

  if (session === null) return <SignIn notice={notice} onSignIn={start} />;
  return (
    <ApolloProvider client={session.client}>
      <header>
        <p>{session.name}</p>
        <p role="status">{isLive ? 'Live' : 'Connecting…'}</p>
        <button type="button" onClick={() => end(session, 'You have signed out.')}>
          Sign out
        </button>
      </header>
      <Tasks />
    </ApolloProvider>
  );
}
