import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import type { Surface } from '../../src/ports/surface.js'
import { type HostKind, hostKind, memoryHost } from '../support/hosts/hosts.js'
import { openHost } from '../support/hosts/open-host.js'
import { smallSigningKey } from '../support/keys.js'
import {
  type BackendCall,
  type CallFaults,
  callFaults,
  type Fault,
} from '../support/stores/call-faults.js'
import { accountFlows } from './faults/account-flows.js'
import { callSites } from './faults/call-sites.js'
import { codeFlows } from './faults/code-flows.js'
import { deviceFlows } from './faults/device-flows.js'
import { endingFlows } from './faults/ending-flows.js'
import type { Flow, Struck } from './faults/flow.js'
import { importFlows } from './faults/import-flows.js'
import { loginFlows } from './faults/login-flows.js'
import { machineFlows } from './faults/machine-flows.js'
import { type Bench, backendTimeout, faultsOf, recordCalls, strikeCall } from './faults/matrix.js'
import { mfaFlows } from './faults/mfa-flows.js'
import { oauthCornerFlows } from './faults/oauth-corner-flows.js'
import { oauthFlows } from './faults/oauth-flows.js'
import { ownerProofFlows } from './faults/owner-proof-flows.js'
import { passkeyFlows } from './faults/passkey-flows.js'
import { passwordFlows } from './faults/password-flows.js'
import { refreshFlows } from './faults/refresh-flows.js'
import { registrationAdminFlows } from './faults/registration-admin-flows.js'
import { registrationFlows } from './faults/registration-flows.js'
import { roleFlows } from './faults/role-flows.js'
import { selfServiceFlows } from './faults/self-service-flows.js'
import { newWorld } from './faults/world.js'
import { figure } from './figures.js'
import { isFull, sizes } from './sizes.js'

const flows = [
  ...refreshFlows,
  ...loginFlows,
  ...mfaFlows,
  ...passkeyFlows,
  ...oauthFlows,
  ...oauthCornerFlows,
  ...deviceFlows,
  ...endingFlows,
  ...registrationFlows,
  ...registrationAdminFlows,
  ...ownerProofFlows,
  ...passwordFlows,
  ...accountFlows,
  ...importFlows,
  ...codeFlows,
  ...selfServiceFlows,
  ...machineFlows,
  ...roleFlows,
]

/** Of the flows, those that write most: what a run on a database costs is mostly waiting. */
const mostWrites = flows.filter(({ name }) =>
  [
    '/refresh with a token of the current generation',
    '/refresh with a token of the current generation, without a window',
    '/refresh with a token of the generation before, after the window',
    '/logout everywhere from the oldest session',
    '/password/reset',
    '/me/password in a browser',
    'POST /service-accounts',
    '/email/verify of another address',
    '/email/verify with the password that the account has',
  ].includes(name),
)

/** Flows where a lost answer is followed by calls that nothing else leads to. */
const branchMost = flows.filter(({ name }) =>
  [
    '/mfa/totp/confirm',
    '/email/verify',
    '/webauthn/registration',
    'users.delete',
    'DELETE /service-accounts/{id}/credentials/{credentialId}',
    '/oauth/google/callback that links',
  ].includes(name),
)

interface Pass {
  readonly kind: HostKind
  readonly surface: Surface
  readonly flows: readonly Flow[]
  readonly stride: number
}

const { faultStride: stride } = sizes
const passes: readonly Pass[] = [
  { kind: memoryHost, surface: 'client', flows, stride },
  ...(isFull ? [{ kind: memoryHost, surface: 'operator', flows, stride } as const] : []),
  {
    kind: hostKind('express', 'postgres'),
    surface: 'client',
    flows: isFull ? flows : mostWrites,
    stride: isFull ? 1 : 7,
  },
]

async function open(flow: Flow, kind: HostKind, surface: Surface): Promise<Bench> {
  let faults: CallFaults | null = null
  const host = await openHost(
    {
      ...flow.options,
      keys: { current: smallSigningKey() },
      backendTimeout,
      wrapBackend: (inner) => {
        faults = callFaults(inner)
        return faults.backend
      },
    },
    kind,
  )
  assert.ok(faults !== null)
  return { flow, faults, newWorld: () => newWorld(host, flow.surface ?? surface) }
}

/** Where and what, before what went wrong. */
async function strike(bench: Bench, struck: Struck): Promise<readonly BackendCall[]> {
  try {
    return await strikeCall(bench, struck)
  } catch (error) {
    const named = ({ call, fault }: Struck) => `"${fault}" at ${call.key} (${call.site})`
    const both = [struck, ...(struck.next === undefined ? [] : [struck.next])].map(named)
    const problem = error instanceof Error ? error.message : String(error)
    throw new Error(`${both.join(', then ')}: ${problem}`, { cause: error })
  }
}

const lineOf = ({ site }: BackendCall): string => site.replace(/:\d+$/, '')

/** Every n-th of the faults that can befall a call; however few those are, no call is left alone. */
function someFaultsOf(call: BackendCall, at: number, every: number): readonly Fault[] {
  const all = faultsOf(call)
  const some = all.filter((_fault, n) => (at + n) % every === 0)
  return some.length > 0 ? some : all.slice(0, 1)
}

describe.each(passes)('figure R11, $kind.name, $surface surface', (pass) => {
  const { kind, surface } = pass
  const places = new Set<string>()
  const struck = new Map<string, number>()
  let calls = 0
  let leftOut = 0

  const count = (fault: string) => struck.set(fault, (struck.get(fault) ?? 0) + 1)

  /** One fault, and after it a second one at calls that only the first has led to. */
  async function strikeOnceAndTwice(bench: Bench, first: Struck): Promise<void> {
    if (bench.flow.leavesOut?.(first)) {
      leftOut += 1
      return
    }
    count(first.fault)
    const made = await strike(bench, first)
    // After "down" everything fails anyhow.
    if (first.fault === 'down') return
    for (const call of made.filter((one) => !places.has(lineOf(one)))) {
      places.add(lineOf(call))
      // Two stale reads are a store that lags, and no longer one mishap.
      for (const fault of faultsOf(call).filter((one) => one !== 'stale')) {
        const both = { ...first, next: { fault, call } }
        if (bench.flow.leavesOut?.(both)) leftOut += 1
        else {
          count('second')
          await strike(bench, both)
        }
      }
    }
  }

  it.each(pass.flows.map((flow) => [flow.name, flow] as const))(
    'every call of %s meets every fault',
    async (_name, flow) => {
      const bench = await open(flow, kind, surface)
      const recorded = await recordCalls(bench)
      // Where a lost answer is followed by further calls, all faults are needed to reach them.
      const isWhole = mostWrites.includes(flow) || branchMost.includes(flow)
      const every = pass.flows === flows && isWhole ? 1 : pass.stride
      expect(recorded).not.toEqual([])
      for (const call of recorded) places.add(lineOf(call))
      for (const [at, call] of recorded.entries()) {
        calls += 1
        for (const fault of someFaultsOf(call, at, every)) {
          await strikeOnceAndTwice(bench, { fault, call })
        }
      }
    },
    300_000,
  )

  it('every call of the backend in the library’s sources was struck', () => {
    const injected = [...struck.values()].reduce((sum, n) => sum + n, 0)
    const kinds = [...struck].map(([fault, n]) => `${n} ${fault}`).join(', ')
    const all = callSites()
    if (pass.flows === flows) expect([...places].sort()).toEqual([...all].sort())
    figure(
      'R11',
      `store fault matrix, ${kind.name}, ${surface} surface`,
      `${pass.flows.length} flows, ${calls} calls, made at ${places.size} of the ${all.size} places ` +
        `in the sources that call the backend; ${injected} faults injected (${kinds}), ${leftOut} ` +
        'stale reads left to the port’s promise; 0 grants the store does not back, 0 half-states, ' +
        '0 leaks, every flow repeated to its documented end',
    )
  })
})
