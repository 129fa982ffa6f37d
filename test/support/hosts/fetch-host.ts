import { fetchHandler } from '../../../adapters/fetch.js'
import type { Auth } from '../../../src/setup/auth.js'

/** The client surface without a server in between. */
export async function ask(auth: Auth, path: string, init: RequestInit): Promise<Response> {
  const request = new Request(`https://app.example.com/v1/auth/client${path}`, init)
  const reply = await fetchHandler(auth.both)(request, { remoteAddress: '192.0.2.1' })
  if (reply === null) throw new Error(`${path} is not a route`)
  return reply
}

function login(auth: Auth, credentials: object): Promise<Response> {
  return ask(auth, '/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  })
}

export async function loginStatus(auth: Auth, credentials: object): Promise<number> {
  return (await login(auth, credentials)).status
}

export async function bearerOf(auth: Auth, credentials: object): Promise<string> {
  const body: { accessToken: string } = JSON.parse(await (await login(auth, credentials)).text())
  return body.accessToken
}

export async function meStatus(auth: Auth, bearer: string): Promise<number> {
  return (await ask(auth, '/me', { headers: { authorization: `Bearer ${bearer}` } })).status
}
