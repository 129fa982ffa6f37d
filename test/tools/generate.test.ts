import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { chosenTargets, targets } from '../../tools/generate.js'
import { documentOf, figuresOf } from '../../tools/reliability.js'

const namesOf = (...names: readonly string[]) => chosenTargets(names).map(([name]) => name)

describe('npm run generate', () => {
  it('makes what is named, in its own order, and without names all that needs no servers', () => {
    expect(namesOf('contract', 'reference')).toEqual(['reference', 'contract'])
    expect(namesOf()).toEqual(expect.arrayContaining(['events', 'pathways', 'api']))
    expect(namesOf()).not.toContain('goldens')
    expect(namesOf('goldens')).toEqual(['goldens'])
  })

  it('refuses a name that it does not know, and says those it knows', () => {
    expect(() => chosenTargets(['events', 'event'])).toThrow(/^no event; there are reference, /)
  })

  it('writes pages that there are', () => {
    const pages = Object.values(targets).flatMap((target) => target.pages ?? [])
    expect(pages.length).toBeGreaterThan(5)
    for (const name of pages) {
      expect(readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')).not.toBe('')
    }
  })

  it('leaves the figures of the page on reliability as they were measured', () => {
    const page = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')
    expect(page).toBe(documentOf(figuresOf(page)))
  })
})
