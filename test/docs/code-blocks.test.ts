import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileBlocks } from './compile-blocks.js'
import { type DocBlock, docBlocks, moduleOf, sourceOf } from './doc-blocks.js'

const root = new URL('../../', import.meta.url)
const blocks = docBlocks()
const nameOf = ({ place, language }: DocBlock): string =>
  `${place.replaceAll(/[/:.]/g, '-')}.${language}`

describe('the blocks of TypeScript on the pages', () => {
  it('are a module, the body of a function or some of the options', () => {
    expect(blocks.length).toBeGreaterThan(80)
    const odd = blocks.filter((block) => sourceOf(block) === null && moduleOf(block) === null)
    expect(odd.map(({ place }) => place)).toEqual([])
  })

  it('compile, with the names declared that they take from elsewhere', () => {
    const modules = blocks
      .filter((block) => sourceOf(block) === null)
      .map((block) => [nameOf(block), moduleOf(block) ?? ''] as const)
    expect(compileBlocks(new Map(modules))).toEqual([])
  })

  it('have the lines of the file that they name, in its order', () => {
    const parts = blocks.filter((block) => sourceOf(block) !== null)
    expect(parts.length).toBeGreaterThan(3)
    for (const { place, code, ...rest } of parts) {
      const file = sourceOf({ place, code, ...rest }) ?? ''
      const lines = readFileSync(new URL(file, root), 'utf8')
        .split('\n')
        .map((line) => line.trim())
      const shown = code
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
      let from = 0
      for (const line of shown.filter((text) => text !== '' && text !== '…')) {
        const found = lines.indexOf(line, from)
        expect(found, `${place}: ${file} has no line "${line}" there`).toBeGreaterThanOrEqual(0)
        from = found + 1
      }
    }
  })

  it('are held against the package: a wrong option, call or name is told', () => {
    const wrong = new Map([
      [
        'option.ts',
        `import { createAuth } from 'postern'\nawait createAuth({ ...options, sweeps: true })`,
      ],
      ['call.ts', `await auth.client.users.make({ email })`],
      ['name.ts', `import { createAuths } from 'postern'\nexport { createAuths }`],
      ['subpath.ts', `import { mysql } from 'postern/mysql'\nexport { mysql }`],
    ])
    const told = compileBlocks(wrong)
    for (const name of wrong.keys()) {
      expect(told.filter((text) => text.startsWith(`${name}: `))).not.toEqual([])
    }
  })
})
