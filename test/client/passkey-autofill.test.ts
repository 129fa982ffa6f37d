import assert from 'node:assert/strict'
import { startAuthentication } from '@simplewebauthn/browser'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { AuthClient } from '../../src/client/auth-client.js'
import { passkeys } from '../../src/client/passkeys.js'

// The browser: its list, and the user who chooses from it.
vi.mock('@simplewebauthn/browser')

interface Offer {
  readonly challenge: string
  choose(): void
  cancel(): void
  /** False once the package has ended it for another one. */
  isOpen: boolean
}

const minute = 60_000
let offers: Offer[] = []

let hasInput = true

beforeEach(() => {
  vi.useFakeTimers()
  offers = []
  hasInput = true
  vi.mocked(startAuthentication).mockImplementation(
    ({ optionsJSON: { challenge }, useBrowserAutofill }) =>
      new Promise((resolve, reject) => {
        expect(useBrowserAutofill).toBe(true)
        // As the package does, before it ends the ceremony before.
        if (!hasInput) throw new Error('No <input> with "webauthn" was detected')
        const before = offers.at(-1)
        if (before !== undefined) before.isOpen = false
        const clientExtensionResults = {}
        const response = { clientDataJSON: challenge, authenticatorData: '', signature: '' }
        const type = 'public-key'
        const proof = { id: 'a', rawId: 'a', response, clientExtensionResults, type } as const
        offers.push({
          challenge,
          choose: () => resolve(proof),
          cancel: () => reject(new Error('cancelled')),
          isOpen: true,
        })
        const ended = setInterval(() => {
          if (offers.at(-1)?.challenge === challenge) return
          clearInterval(ended)
          reject(new Error('Authentication ceremony was sent an abort signal'))
        }, 1)
      }),
  )
})
afterEach(() => {
  vi.useRealTimers()
})

/** A client whose server gives one challenge after another; `reach` says whether it can be reached. */
function opened(reach: () => boolean = () => true) {
  let given = 0
  const verified: unknown[] = []
  const call = async (key: string, input: Readonly<Record<string, unknown>>) => {
    if (key === 'POST /webauthn/login/options') {
      if (!reach()) throw new Error('offline')
      given += 1
      return { challengeId: `${given}`, options: { challenge: `challenge ${given}` } }
    }
    assert.equal(key, 'POST /webauthn/login/verify')
    verified.push(input['challengeId'])
    return { status: 'authenticated' }
  }
  const state = { status: 'signedOut' }
  // Only these are used.
  const client = { call, get: () => state } as unknown as AuthClient<'client'>
  return { signIn: passkeys(client).signIn, verified, state, asked: () => given }
}

it('a passkey is chosen from the list of a page that is open for long', async () => {
  const { signIn, verified } = opened()
  const login = signIn({ autofill: true })
  await vi.advanceTimersByTimeAsync(60 * minute)
  expect(offers.map(({ isOpen }) => isOpen)).toEqual([...Array(15).fill(false), true])
  offers.at(-1)?.choose()
  await expect(login).resolves.toEqual({ status: 'authenticated' })
  expect(verified).toEqual(['16'])
})

it('one that is chosen in time is shown as it was asked for', async () => {
  const { signIn, verified } = opened()
  const login = signIn({ autofill: true })
  await vi.advanceTimersByTimeAsync(4 * minute - 1)
  expect(offers.map(({ challenge }) => challenge)).toEqual(['challenge 1'])
  offers[0]?.choose()
  await login
  expect(verified).toEqual(['1'])
})

it('the list stays while the server is not reached', async () => {
  let isOnline = true
  const { signIn, verified } = opened(() => isOnline)
  const login = signIn({ autofill: true })
  await vi.advanceTimersByTimeAsync(minute)
  isOnline = false
  await vi.advanceTimersByTimeAsync(8 * minute)
  expect(offers.map(({ isOpen }) => isOpen)).toEqual([true])
  isOnline = true
  await vi.advanceTimersByTimeAsync(4 * minute)
  expect(offers.map(({ isOpen }) => isOpen)).toEqual([false, true])
  offers.at(-1)?.choose()
  await login
  expect(verified).toEqual(['2'])
})

it('the list stays as it is while the user is signed in, or on another page', async () => {
  const { signIn, verified, state, asked } = opened()
  const login = signIn({ autofill: true })
  await vi.advanceTimersByTimeAsync(minute)
  state.status = 'signedIn'
  await vi.advanceTimersByTimeAsync(20 * minute)
  // A question would keep the session alive for as long as the page is open.
  expect(asked()).toBe(1)
  state.status = 'signedOut'
  hasInput = false
  await vi.advanceTimersByTimeAsync(20 * minute)
  expect(offers).toHaveLength(1)
  hasInput = true
  await vi.advanceTimersByTimeAsync(4 * minute)
  expect(offers.map(({ isOpen }) => isOpen)).toEqual([false, true])
  offers.at(-1)?.choose()
  await login
  expect(verified).toEqual([offers.at(-1)?.challenge.replace('challenge ', '')])
})

it('a user who cancels a later list is told so', async () => {
  const { signIn } = opened()
  const rejected = expect(signIn({ autofill: true })).rejects.toThrow('cancelled')
  await vi.advanceTimersByTimeAsync(5 * minute)
  expect(offers).toHaveLength(2)
  offers.at(-1)?.cancel()
  await rejected
})

it('a list that the page ends rejects, and is not begun again', async () => {
  const { signIn } = opened()
  const login = signIn({ autofill: true })
  const rejected = expect(login).rejects.toThrow('abort signal')
  await vi.advanceTimersByTimeAsync(minute)
  // The page asks for a passkey by another ceremony.
  offers.push({ challenge: 'of the page', choose() {}, cancel() {}, isOpen: true })
  await vi.advanceTimersByTimeAsync(60 * minute)
  await rejected
  expect(offers).toHaveLength(2)
})
