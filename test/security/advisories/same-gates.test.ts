import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/operation.js'
import { oauthOptions } from '../../contract/oauth/oauth-host.js'
import { flows } from '../../flows/catalogue.js'
import { openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person } from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { doors } from '../doors/doors.js'
import { moreDoors } from '../doors/more-doors.js'
import type { SwitchName } from '../doors/switches.js'
import { type Door, surfacesOf } from '../doors/walked-doors.js'

const { stub, settings } = await oauthOptions(() => Date.UTC(2026, 0, 1))

/** What a door hangs on: a switch of the table of doors, a guard that its operation names, or an option of the host. */
type Gate = SwitchName | 'permission' | 'proof' | 'session' | 'option'

interface Rule {
  /** The collection, without its surface, that the door inserts into. */
  readonly into: string
  /** One of these sets of gates, whole. */
  readonly gates: readonly (readonly Gate[])[]
}

/** What grants something is written behind the same gates, by whichever door. */
const rules: readonly Rule[] = [
  // A machine is made by who may; a person by the switch, the terms and the domains of the surface.
  {
    into: 'users',
    gates: [
      ['permission', 'proof'],
      ['registration off', 'terms demanded', 'domains listed'],
    ],
  },
  { into: 'service_account_credentials', gates: [['permission', 'proof']] },
  {
    into: 'oauth_identities',
    gates: [['google off'], ['microsoft off'], ['apple off'], ['github off']],
  },
  { into: 'passkeys', gates: [['passkeys off', 'apps and passkeys off']] },
  { into: 'totp_factors', gates: [['apps off', 'apps and passkeys off']] },
  { into: 'trusted_devices', gates: [['trusted devices off']] },
  // Of a session: the way in that opened it can be shut.
  {
    into: 'sessions',
    gates: [
      ...[['google off'], ['microsoft off'], ['apple off'], ['github off'], ['passwords off']],
      ...[['option'], ['passkeys second only'], ['registration off', 'passwords off']],
    ] as readonly (readonly Gate[])[],
  },
]

const everythingOn = {
  ...withoutLimits.settings,
  ...settings,
  registrationOperatorEnabled: true,
  emailVerificationRequired: false,
  webauthnMode: 'passwordless',
  trustedDeviceOperatorEnabled: true,
  trustedDeviceClientEnabled: true,
  accountDeletionMode: 'both',
} as const

const all: readonly Door[] = [...flows, ...moreDoors]

function gatesOf(door: Door): ReadonlySet<Gate> {
  const operation = operations.find(({ id }) => id === door.of)
  const named = (doors[`${door.of}: ${door.name}`] ?? []).flatMap((row) => Object.keys(row))
  return new Set([...(named as readonly SwitchName[]), ...guardsOf(operation)])
}

function guardsOf(operation: Operation | undefined): readonly Gate[] {
  if (operation?.option !== undefined) return ['option']
  return (operation?.guards ?? []).flatMap(({ kind }): readonly Gate[] => {
    if (kind === 'permission') return ['permission']
    if (kind === 'stepUp') return ['proof']
    return kind === 'bearer' ? ['session'] : []
  })
}

/** The collections that the last step of a door inserts into, without surface. */
async function insertedBy(door: Door): Promise<readonly string[]> {
  const { settings: wanted, ...options } = door.options ?? {}
  const spy = spyBackend()
  const [surface = 'operator'] = surfacesOf(door)
  const host = await openHost({
    ...withoutLimits,
    fetcher: stub,
    ...options,
    settings: { ...everythingOn, ...wanted, webauthnMode: 'passwordless' },
    backend: spy.backend,
  })
  const who = await person(host, surface)
  const { step } = await door.prepare({ host, surface, who, enrolled: null })
  await host.auth.close()
  spy.calls.splice(0)
  const reply = await step()
  expect(reply.status, reply.text).toBeLessThan(400)
  await host.auth.close()
  const inserted = spy.calls.flatMap((call) => {
    const name = /^(?:operator_|client_)?(\w+)\.insert$/.exec(call)?.[1]
    return name === undefined ? [] : [name]
  })
  return [...new Set(inserted)]
}

const written = new Map<string, string[]>()

describe('who writes the same thing goes through the same gate', () => {
  it.each(all)('$of: $name', async (door) => {
    const gates = gatesOf(door)
    for (const into of await insertedBy(door)) {
      const rule = rules.find((one) => one.into === into)
      if (rule === undefined) continue
      written.set(into, [...(written.get(into) ?? []), `${door.of}: ${door.name}`])
      const held = rule.gates.filter((set) => set.every((gate) => gates.has(gate)))
      expect([into, held.length > 0], `gates: ${[...gates].join(', ')}`).toEqual([into, true])
    }
  })

  it('every rule was met, most of them by more than one door', () => {
    expect([...written.keys()].sort()).toEqual(rules.map(({ into }) => into).sort())
    expect(written.get('users')?.length).toBeGreaterThanOrEqual(6)
  })
})
