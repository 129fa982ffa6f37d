import { describe, expect, it } from 'vitest'
import { FieldBool, FieldSelect } from '../../src/engine/configuration/config-declaration.js'
import { authSettingDeclarations } from '../../src/settings/settings.js'
import { flows } from '../flows/catalogue.js'
import { type HostKind, memoryHost } from '../support/hosts/hosts.js'
import { eachStore } from '../support/hosts/matrix.js'
import { doors } from './doors/doors.js'
import { moreDoors } from './doors/more-doors.js'
import { switches } from './doors/switches.js'
import { type Door, surfacesOf, walkedDoor } from './doors/walked-doors.js'

const walked: readonly Door[] = [...flows, ...moreDoors]
const nameOf = ({ of, name }: Door): string => `${of}: ${name}`

/** Settings that are on or off, or one of several, and shut no door, with what they do. */
const shutsNothing: Readonly<Record<string, string>> = {
  cookieSameSite: 'an attribute of the cookies',
  passwordBreachCheck: 'what a new password must be like',
  passwordBlockCommon: 'what a new password must be like',
  passwordBlockContextual: 'what a new password must be like',
  webauthnUserVerification: 'what a response of a passkey must show',
  microsoftTenant: 'which accounts of Microsoft are meant',
  notifyNewDevice: 'who gets a mail',
  notifySecurityChanges: 'who gets a mail',
  revokeSessionsOnPasswordChange: 'which sessions end',
}

const everySwitch = Object.entries(switches)
const cells = walked.flatMap(surfacesOf).length * everySwitch.length

describe('the table of doors and switches', () => {
  it('has a row for every door, and no other', () => {
    expect(Object.keys(doors).sort()).toEqual(walked.map(nameOf).sort())
  })

  it('has every setting that is a switch', () => {
    const thrown = everySwitch.flatMap(([, { set }]) => [
      ...Object.keys(set('operator')),
      ...Object.keys(set('client')),
    ])
    const known = new Set([...thrown, ...Object.keys(shutsNothing)])
    const missing = authSettingDeclarations.filter(
      ({ key, type }) => (type === FieldBool || type === FieldSelect) && !known.has(key),
    )
    expect(missing.map(({ key }) => key)).toEqual([])
  })

  it('names no switch that no door hangs on, but for one', () => {
    const named = new Set(
      Object.values(doors).flatMap((row) => row.flatMap((one) => Object.keys(one))),
    )
    const idle = everySwitch.map(([name]) => name).filter((name) => !named.has(name))
    // Who enrolled is not asked, and everything else stays as it is.
    expect(idle).toEqual(['factors off'])
  })
})

/**
 * All of them on memory. What a store could change is whether a stored switch is seen at all: on Postgres the cells that
 * a row names, and on the others those of every seventh door.
 */
function cellsOn(
  kind: HostKind,
  door: Door,
  index: number,
): readonly (typeof everySwitch)[number][] {
  const isWhole = kind.name === memoryHost.name
  if (isWhole) return everySwitch
  const row = Object.assign({}, ...(doors[nameOf(door)] ?? []))
  const isSampled = kind.name.includes('postgres') || index % 7 === 0
  return isSampled ? everySwitch.filter(([name]) => Object.hasOwn(row, name)) : []
}

eachStore.describe(`${cells} cells`, (kind) => {
  const rows = walked.flatMap((door, index) => {
    const thrown = cellsOn(kind, door, index)
    return surfacesOf(door).flatMap((surface) =>
      thrown.length === 0 ? [] : [{ name: nameOf(door), surface, door, thrown }],
    )
  })

  it.each(rows)('$name, on the $surface surface', async ({ name, surface, door, thrown }) => {
    const { verdict } = walkedDoor(door, kind)
    const open = await verdict(surface, {})
    expect(open).toMatch(/^[23]/)
    const row = Object.assign({}, ...(doors[name] ?? []))
    const found: Record<string, string> = {}
    for (const [switched, { set }] of thrown) {
      const came = await verdict(surface, set(surface))
      if (came !== open) found[switched] = came
    }
    const wanted = thrown.flatMap(([switched]) =>
      Object.hasOwn(row, switched) ? [[switched, row[switched]]] : [],
    )
    expect(found).toEqual(Object.fromEntries(wanted))
  })
})
