import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { type IntentKind, intentKinds } from '../../../src/engine/intents.js'
import { memoryHost } from '../../support/hosts/hosts.js'
import type { Start } from './begun.js'
import { appInLoginByGoogle } from './provider-starts.js'
import { outcomeOf, starts } from './starts.js'
import { openWorld } from './subject.js'

/** Those whose table row says that something has to come with them, beside the token itself. */
type BoundKind = {
  [K in IntentKind]: (typeof intentKinds)[K]['boundTo'] extends 'nothing' | 'mailbox' ? never : K
}[IntentKind]

/** A start of each, with the same request from elsewhere. */
const bound: Readonly<Record<BoundKind, Start['begin']>> = {
  confirmedLink: starts['a link that confirmed an address'].begin,
  changeEmail: starts['a link to another address, in the session that asked'].begin,
  secondFactor: starts['a code after Google'].begin,
  enrollment: appInLoginByGoogle,
  oauthWeb: starts['a browser at Google'].begin,
  oauthLink: starts['an account at Google linked in a session'].begin,
  appCode: starts['the code of an app'].begin,
  passkeySecondFactor: starts['a passkey after a password'].begin,
  passkeyRegistration: starts['a passkey registered in a session'].begin,
  passkeyStepUp: starts['a passkey proved in a session'].begin,
  totpEnrollment: starts['an app enrolled in a session'].begin,
}

/** Where the door gives another answer than the table. */
const doors: Readonly<Record<string, string>> = {
  // It says how the link can be used.
  changeEmail: 'current_password_required',
  // A browser that shows no flow tells nothing of its kind.
  oauthLink: 'invalid_oauth_state',
  // One answer of this door for whatever is wrong with a response.
  passkeySecondFactor: 'invalid_credentials',
}

const kinds = Object.entries(intentKinds).map(([kind, { boundTo, refusal }]) => ({
  ...{ kind, boundTo, refusal },
}))

describe('what an intent is bound to', () => {
  it.each(kinds.filter(({ kind }) => kind in bound))(
    '$kind, without its $boundTo, is refused',
    async ({ kind, refusal }) => {
      const begin = bound[kind as BoundKind]
      const { elsewhere } = await begin(await openWorld(memoryHost))
      assert(elsewhere)
      expect(
        outcomeOf(await elsewhere())
          .split(' ')
          .at(-1),
      ).toBe(doors[kind] ?? refusal)
    },
  )

  it.each(kinds.filter(({ kind }) => kind in bound))(
    '$kind, with its $boundTo, is good',
    async ({ kind }) => {
      const { finish } = await bound[kind as BoundKind](await openWorld(memoryHost))
      expect(outcomeOf(await finish())).toBe('good')
    },
  )

  it.each(kinds.filter(({ kind }) => !(kind in bound)))(
    '$kind, bound to $boundTo, is good wherever it is shown',
    async ({ kind }) => {
      const begun = Object.values<Start>(starts).filter(
        ({ kinds: passed }) => passed.at(-1) === kind,
      )
      for (const { begin } of begun) {
        const { finish, elsewhere } = await begin(await openWorld(memoryHost))
        expect(elsewhere).toBeUndefined()
        expect(outcomeOf(await finish())).toBe('good')
      }
      expect(begun).not.toEqual([])
    },
  )
})
