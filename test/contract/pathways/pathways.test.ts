import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { StepOptions } from '../../flows/flow.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { surfaces } from '../../support/hosts/open-host.js'
import { person } from '../../support/people/people.js'
import { settingsHost } from '../settings/settings-host.js'
import { type ControlName, controlOf, controls } from './controls.js'
import { givenBy, type Pathway } from './pathway.js'
import { pathways, pathwaysOn } from './pathways.js'

const names = Object.keys(controls).filter((name): name is ControlName => name in controls)

/** What a reply may hold, by its schema. */
const membersOf = (reply: z.ZodMiniType): string => JSON.stringify(z.toJSONSchema(reply))

describe('the ways to tokens', () => {
  const giving = operations.filter(({ reply }) =>
    /"(accessToken|access_token|refreshToken)"/.test(membersOf(reply)),
  )

  it('are all walked: every operation whose reply may hold a token', () => {
    const walked = new Set(pathways.map(({ flow }) => flow.of))
    expect(giving.length).toBeGreaterThan(0)
    expect(giving.map(({ id }) => id).filter((id) => !walked.has(id))).toEqual([])
  })

  it('are operations there are, each with a cell for every control', () => {
    const ids = new Set(operations.map(({ id }) => id))
    expect(pathways.filter(({ flow }) => !ids.has(flow.of))).toEqual([])
    for (const { cells } of pathways) expect(Object.keys(cells).sort()).toEqual([...names].sort())
  })
})

const address = '203.0.113.77'

/** What the last step of a pathway gives where all of these controls are in force. */
async function walked(
  pathway: Pathway,
  inForce: readonly ControlName[],
  surface: Surface,
): Promise<string> {
  const standing = inForce.map(controlOf)
  const given = [pathway.flow.options, ...standing.map(({ options }) => options)]
  const settings = Object.assign({}, ...given.map((options) => options?.settings))
  const host = await settingsHost(Object.assign({}, ...given, { settings }))
  const made = standing.find(({ who }) => who !== undefined)?.who
  const enrolled = made === undefined ? null : await made(host, surface)
  const who = enrolled ?? (await person(host, surface))
  const { step, userId, email } = await pathway.flow.prepare({ host, surface, who, enrolled })
  for (const { enforce } of standing) {
    await enforce?.(host, surface, userId ?? who.id, email ?? who.email)
  }
  const other = surface === 'operator' ? 'client' : 'operator'
  const times = Math.max(...standing.map((control) => control.times ?? 1))
  const sending: StepOptions = {
    ...(standing.some(({ elsewhere }) => elsewhere) ? { at: other } : {}),
    ...(times > 1 ? { from: address } : {}),
  }
  const gave: string[] = []
  for (let sent = 0; sent < times; sent += 1) gave.push(givenBy(await step(sending)))
  return gave.at(-1) ?? ''
}

eachSurface.describe((surface) => {
  describe.each(pathwaysOn(surface))('$flow.of: $flow.name', (pathway) => {
    const cells = names.map((name) => ({ name, cell: pathway.cells[name] }))
    const standing = cells.filter(({ cell }) => typeof cell === 'string')

    it.each(standing)('meets $name: $cell', async ({ name, cell }) => {
      expect(await walked(pathway, [name], surface)).toBe(cell)
    })
  })
})

describe('several controls at once', () => {
  const walks = surfaces.flatMap((surface) =>
    pathwaysOn(surface)
      .filter(({ cells }) => cells.nothing === 'tokens')
      .map((pathway) => ({ pathway, surface })),
  )
  const combination = fc.constantFrom(...walks).chain(({ pathway, surface }) => {
    const standing = names.filter((name) => typeof pathway.cells[name] === 'string')
    const inForce = fc.uniqueArray(fc.constantFrom(...standing), { minLength: 2, maxLength: 4 })
    return inForce.map((chosen) => ({ pathway, surface, chosen }))
  })

  it('give tokens exactly where each of them alone does', async () => {
    await fc.assert(
      fc.asyncProperty(combination, async ({ pathway, surface, chosen }) => {
        const eachGives = chosen.every((name) => pathway.cells[name] === 'tokens')
        const given = await walked(pathway, chosen, surface)
        expect(given === 'tokens', `${given} of ${pathway.flow.name}`).toBe(eachGives)
      }),
      { numRuns: 60 },
    )
  }, 120_000)
})
