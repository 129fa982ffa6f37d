import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { guardTests, withoutDifference } from './guard-tests.js'
import { findGuards } from './guards.js'
import { testsOf } from './plant.js'
import { plants } from './plants.js'
import { protocolPlants } from './protocol-plants.js'
import { sampleOf } from './sample-of.js'
import { occurrences } from './tree-copy.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('planted mistakes', () => {
  it('have a name each', () => {
    expect(new Set(plants.map(({ name }) => name)).size).toBe(plants.length)
  })

  it.each(plants.map((plant) => [plant.name, plant] as const))('%s', (_name, plant) => {
    for (const { file, find, replace } of plant.edits) {
      expect(occurrences(readFileSync(`${root}/${file}`, 'utf8'), find), `${file}: ${find}`).toBe(1)
      expect(replace).not.toBe(find)
    }
    const files = testsOf(plant)
    expect(files.filter((file) => !existsSync(`${root}/${file}`))).toEqual([])
    expect(new Set(files).size).toBe(files.length)
  })
})

it.each(protocolPlants)('a mistake for simulated histories: $name', ({ edits }) => {
  for (const { file, find, replace } of edits) {
    expect(occurrences(readFileSync(`${root}/${file}`, 'utf8'), find), `${file}: ${find}`).toBe(1)
    expect(replace).not.toBe(find)
  }
})

describe('the guards of admission and of writes', () => {
  const ids = findGuards(root).map(({ id }) => id)

  it('are each noticed by a test, which is named', () => {
    const known = [...Object.keys(guardTests), ...withoutDifference]
    expect(known.toSorted()).toEqual(ids.toSorted())
  })

  it('are found in a source as it is written, and are called by the function that writes', () => {
    expect(ids[0]).toBe('addressLimit')
    expect(ids).toContain('revoke families: revokedAt')
    expect(ids).toContain('barReissues families: generation')
  })
})

describe('the sample of a day', () => {
  it('goes round the list, so that each one has its turn', () => {
    const list = ['a', 'b', 'c', 'd', 'e']
    const days = [0, 1, 2, 3, 4].map((day) => sampleOf(list, 2, day).join(''))
    expect(days).toEqual(['ab', 'cd', 'ea', 'bc', 'de'])
    expect(sampleOf(list, 9, 3)).toHaveLength(5)
  })
})
