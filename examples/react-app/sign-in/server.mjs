// Handler of the action sign_in: checks a password, and returns a token for the service.
import { createServer } from 'node:http';
import { SignJWT } from 'jose';
import { hashPassword, isPassword } from './password.mjs';

const { SIGN_IN_URL, SVC_GRAPHQL_ADMIN_SECRET, SVC_GRAPHQL_ENDPOINT, SVC_GRAPHQL_JWT_SECRET, TOKEN_LIFETIME = '15m' } = process.env;
const key = new TextEncoder().encode(JSON.parse(SVC_GRAPHQL_JWT_SECRET).key);
// Checked if the address does not exist, so that the answer takes as long as for a wrong password.
const hashOfNothing = await hashPassword('');

async function memberWith(email) {
  const response = await fetch(`${SVC_GRAPHQL_ENDPOINT}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-admin-secret': SVC_GRAPHQL_ADMIN_SECRET },
    body: JSON.stringify({
      query: 'query ($email: String!) { member(where: {email: {_eq: $email}}) { id name organisation_id password_hash } }',
      variables: { email: email.toLowerCase() },
    }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data.member[0];
}

function tokenFor(member) {
  const session = {
    'x-svc-allowed-roles': ['member'],
    'x-svc-default-role': 'member',
    'x-svc-user-id': String(member.id),
    'x-svc-organisation-id': String(member.organisation_id),
  };
  return new SignJWT({ 'urn:svc:jwt:claims': session })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(String(member.id))
    .setExpirationTime(TOKEN_LIFETIME)
    .sign(key);
}

async function signIn(request) {
  const { email, password } = await inputOf(request);
  const member = await memberWith(email);
  const isRight = await isPassword(password, member?.password_hash ?? hashOfNothing);
  if (!member || !isRight) return [401, { message: 'The address or the password is wrong.', code: 'wrong-credentials' }];
  return [200, { token: await tokenFor(member), name: member.name }];
}

/** Maximum length of a request body, in characters. */
const MAX_BODY = 10_000;

async function inputOf(request) {
  let body = '';
  for await (const part of request.setEncoding('utf8')) {
    body += part;
    if (body.length > MAX_BODY) throw new Error('the body is too long');
  }
  return JSON.parse(body).input;
}

const server = createServer(async (request, response) => {
  const [status, answer] = await signIn(request).catch((error) => {
    console.error(error);
    return [500, { message: 'Signing in is not possible at the moment.' }];
  });
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
});
// Only programs on this machine can connect.
server.listen(new URL(SIGN_IN_URL).port, 'localhost', () => console.log(`The sign-in server listens at ${SIGN_IN_URL}`));
