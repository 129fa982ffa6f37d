import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { operations } from '../../src/operations/index.js'
import { authSettingDeclarations } from '../../src/settings/settings.js'
import { pathwaysPage } from '../../tools/pathways-page.js'
import { controls } from '../contract/pathways/controls.js'
import { pathways } from '../contract/pathways/pathways.js'

const file = new URL('../../docs/pathways.md', import.meta.url)
const table = { pathways, controls: Object.keys(controls) }
const current = pathwaysPage(table, operations)

describe('the page of the ways in', () => {
  it('is what `npm run generate` makes of the table that is walked', () => {
    if (process.env['PATHWAYS'] === 'write') writeFileSync(file, current)
    expect(readFileSync(file, 'utf8')).toBe(current)
  })

  it('has each way that is let in once, and none that is not', () => {
    const [strengths = ''] = current.split('## What each control')
    for (const { flow, strength } of pathways) {
      const rows = strengths.split('\n').filter((line) => line.startsWith(`| ${flow.name} |`))
      expect([flow.name, rows.length]).toEqual([flow.name, strength === null ? 0 : 1])
    }
  })

  it('names settings that there are', () => {
    const keys = new Set<string>(authSettingDeclarations.map(({ key }) => key))
    const named = current.matchAll(/`((?:mfaPolicy|passwordLogin|webauthn|trustedDevice)\w+)`/g)
    const missing = [...named].flatMap(([, key = '']) => (keys.has(key) ? [] : [key]))
    expect(missing).toEqual([])
  })

  it('is not made of a way whose operation is missing', () => {
    const [first] = pathways
    expect(() => pathwaysPage({ pathways: first ? [first] : [], controls: [] }, [])).toThrow(
      'no operation is called login',
    )
  })
})
