import { describe, expect, it } from 'vitest'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import type { Enrolled } from '../../support/people/authenticator.js'
import {
  accountsPath,
  administrator,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { withCall } from '../../support/stores/faulty-backend.js'

interface Given {
  readonly host: ContractHost
  readonly who: Enrolled
  readonly may: { permitted: boolean }
}

/** What happens while the secret is hashed, and what the request is refused with. */
const meanwhile: Readonly<
  Record<string, { readonly happens: (given: Given) => unknown; readonly outcome: string }>
> = {
  'all sessions end': {
    happens: ({ host, who }) => host.auth.operator.terminateSessionsOf(who.id),
    outcome: '401 session_revoked',
  },
  'the operator is disabled': {
    happens: ({ host, who }) => host.auth.operator.users.update(who.id, { enabled: false }),
    outcome: '401 session_revoked',
  },
  'the permission is taken away': {
    happens: ({ may }) => {
      may.permitted = false
    },
    outcome: '403 permission_denied',
  },
  'the second factor is proved anew elsewhere, since the factors changed': {
    happens: ({ host, who }) =>
      storedIn(host, 'operator').users.update(who.id, { enabled: true }, { deviceEpoch: 99 }),
    outcome: '403 step_up_required',
  },
}

/** A host on which something happens once, right after a request has shown its second factor. */
async function interrupted() {
  const late: (() => unknown)[] = []
  const may = { permitted: true }
  const host = await openHost({
    ...withoutLimits,
    authorizer: { check: async ({ kind }) => kind === '' && may.permitted },
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        const found = await work()
        if (called === 'operator_step_up_proofs.get') await late.pop()?.()
        return found
      }),
  })
  return { host, may, late, who: await administrator(host) }
}

describe.each(Object.entries(meanwhile))('where %s while a secret is hashed', (_, given) => {
  const { happens, outcome } = given

  it('no credential is issued', async () => {
    const { host, may, late, who } = await interrupted()
    const account = await serviceAccount(host, who)
    const stored = () => storedIn(host, 'operator').users.get(account.id)
    const before = await stored()
    late.push(() => happens({ host, who, may }))
    expect(outcomeOf(await rotate(host, who, account.id))).toBe(outcome)
    expect(late).toEqual([])
    const found = await host.auth.operator.serviceAccounts.list()
    expect(found.accounts.map(({ credentials }) => credentials.length)).toEqual([1])
    expect(await stored()).toEqual(before)
  })

  it('no account is made', async () => {
    const { host, may, late, who } = await interrupted()
    late.push(() => happens({ host, who, may }))
    const { bearer } = who
    const reply = await host.send('POST', accountsPath, { bearer, body: { name: 'Late' } })
    expect([late, outcomeOf(reply)]).toEqual([[], outcome])
    expect(await host.auth.operator.serviceAccounts.list()).toEqual({ accounts: [], next: null })
  })
})
