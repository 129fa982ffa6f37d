import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { guardTests, withoutDifference } from './guard-tests.js'
import { findGuards } from './guards.js'
import { occurrences, sampleOf, testsOf, touches } from './plant.js'
import { plants } from './plants.js'
import { protocolPlants } from './protocol-plants.js'
import { findTimes, timeTests } from './time-plants.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('planted mistakes', () => {
  it('have a name each', () => {
    expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length)
  })

  it.each([...plants, ...protocolPlants])('$name', ({ edits }) => {
    for (const { file, find, replace } of edits) {
      expect(occurrences(readFileSync(`${root}/${file}`, 'utf8'), find), `${file}: ${find}`).toBe(1)
      expect(replace).not.toBe(find)
    }
  })

  it('name tests that are there, each once', () => {
    for (const plant of plants) {
      const files = testsOf(plant)
      expect(files.filter((file) => !existsSync(`${root}/${file}`))).toEqual([])
      expect(new Set(files).size, plant.name).toBe(files.length)
    }
  })

  it('touch the room of a file that they change', () => {
    const rooms = ['domain/sessions', 'domain', 'stores'] as const
    const touching = rooms.map((room) => plants.filter((plant) => touches(plant, room)))
    expect(touching.map((list) => list.length > 0)).toEqual([true, true, true])
    for (const [at, room] of rooms.entries()) {
      const files = touching[at]?.map(({ edits }) => edits.map(({ file }) => file).join())
      expect(files?.filter((file) => !file.includes(`/${room}/`))).toEqual([])
    }
    expect(plants.filter((plant) => touches(plant, 'domain/sess'))).toEqual([])
  })
})

describe('the guards of admission and of writes', () => {
  const ids = findGuards(root).map(({ id }) => id)

  it('are each noticed by a test, which is named', () => {
    const known = [...Object.keys(guardTests), ...withoutDifference]
    expect(known.toSorted()).toEqual(ids.toSorted())
  })

  it('are found in a source as it is written, and are called by the function that writes', () => {
    expect(ids[0]).toBe('askedNow')
    expect(ids).toContain('revoke families: revokedAt')
    expect(ids).toContain('barReissues families: generation')
  })
})

it('each constant of time in the domain is noticed by a test, which is named', () => {
  const ids = findTimes(root).map(({ id }) => id)
  expect(Object.keys(timeTests).toSorted()).toEqual(ids.toSorted())
})

describe('the sample of a day', () => {
  it('goes round the list, so that each one has its turn', () => {
    const list = ['a', 'b', 'c', 'd', 'e']
    const days = [0, 1, 2, 3, 4].map((day) => sampleOf(list, 2, day).join(''))
    expect(days).toEqual(['ab', 'cd', 'ea', 'bc', 'de'])
    expect(sampleOf(list, 9, 3)).toHaveLength(5)
  })
})
