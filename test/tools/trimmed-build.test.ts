import { describe, expect, it } from 'vitest'
import { ownSourceMap, reachedDeclarations } from '../../tools/trim-build.js'

const files: Readonly<Record<string, string>> = {
  'dist/a.d.ts': "import type { B } from './parts/b.js'\nimport 'zod'\nexport type A = B\n",
  'dist/parts/b.d.ts': 'export type B = import("../c.ts").C\nexport * from \'./d.js\'\n',
  'dist/c.d.ts': "export type { A } from './a.js'\nexport type C = 1\n",
  'dist/parts/d.d.ts': 'export declare const d: 1\n',
  'dist/e.d.ts': "export * from './a.js'\n",
}

function textOf(path: string): string {
  const text = files[path]
  if (text === undefined) throw new Error(`no ${path}`)
  return text
}

describe('what a build keeps', () => {
  it('is each declaration that an entry reaches, however it is imported', () => {
    const reached = reachedDeclarations(['./dist/a.d.ts'], textOf)
    expect([...reached].toSorted()).toEqual([
      'dist/a.d.ts',
      'dist/c.d.ts',
      'dist/parts/b.d.ts',
      'dist/parts/d.d.ts',
    ])
  })

  it('needs every file that a declaration imports', () => {
    const broken = (path: string) => (path === 'dist/a.d.ts' ? "import './gone.js'" : textOf(path))
    expect(() => reachedDeclarations(['./dist/a.d.ts'], broken)).toThrow('no dist/gone.d.ts')
  })

  it('is the sources of the package, and only the names of those of other packages', () => {
    const sources = ['../src/a.ts', '../node_modules/zod/b.js', '../src/c.ts']
    const map = { version: 3, sources, sourcesContent: ['a', 'b', 'c'], mappings: 'AAAA' }
    expect(JSON.parse(ownSourceMap(JSON.stringify(map)))).toEqual({
      ...map,
      sourcesContent: ['a', null, 'c'],
    })
  })
})
