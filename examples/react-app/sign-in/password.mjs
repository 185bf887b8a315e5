// Passwords are stored as scrypt hashes. `node sign-in/password.mjs <password>` prints one for the database.
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(scrypt);
const KEY_BYTES = 64;

export async function hashPassword(password) {
  const salt = randomBytes(16);
  const key = await derive(password, salt, KEY_BYTES);
  return `${salt.toString('base64')}:${key.toString('base64')}`;
}

export async function isPassword(password, hash) {
  const [salt, key] = hash.split(':').map((part) => Buffer.from(part, 'base64'));
  return timingSafeEqual(await derive(password, salt, KEY_BYTES), key);
}

if (process.argv[1] === import.meta.filename) console.log(await hashPassword(process.argv[2]));
