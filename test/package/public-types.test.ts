import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ApiReport, apiPages, publicTypes } from '../../tools/api/public-types.js'
import { unexportedTypes } from './unexported-types.js'

const folder = new URL('api/', import.meta.url)

let report: ApiReport

beforeAll(() => {
  report = publicTypes()
})

describe('the public types of the package', () => {
  it('are those of test/package/api; after a change that is meant: npm run generate -- api', () => {
    const written = readdirSync(folder).map((name): [string, string] => {
      return [name, readFileSync(new URL(name, folder), 'utf8')]
    })
    const now = apiPages(report)
    expect(written.map(([name]) => name).sort()).toEqual([...now.keys()].sort())
    for (const [name, text] of written) expect([name, text]).toEqual([name, now.get(name)])
  })

  it('are whole: what they name is exported, or is named with a reason in unexported-types.ts', () => {
    const excused = Object.values(unexportedTypes).flat()
    const found = [...new Set(report.unexported.map(({ name }) => name))]
    expect(found.filter((name) => !excused.includes(name))).toEqual([])
    // A reason whose name is gone would excuse the next one of that name.
    expect(excused.filter((name) => !found.includes(name))).toEqual([])
    expect(excused).toHaveLength(found.length)
  })

  it('hold more than names: members, parameters and results are in the pages', () => {
    const pages = [...report.pages.values()].join('')
    expect(report.pages.size).toBeGreaterThan(20)
    expect(pages).toContain('terminateSessionsOf(userId: string, by?: Actor): Promise<void>;')
    expect(pages).toContain('function postgres(')
    // A type that could not be read is shown as `any`, and so would every change of it.
    expect(pages.replaceAll(/'[^'\n]*'/g, '')).not.toMatch(/\bany\b/)
  })
})
