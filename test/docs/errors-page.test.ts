import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const page = textOf('docs/errors.md')

/** The error classes of the public types, each with the subpaths that export it. */
function exportedErrors(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const file of readdirSync(new URL('test/package/api/', root))) {
    if (!file.endsWith('.txt')) continue
    const subpath = file.slice(0, -'.txt'.length).replaceAll('-', '/')
    for (const [, name = ''] of textOf(`test/package/api/${file}`).matchAll(
      /^(?:export )?(?:declare )?class (\w+) extends \w*Error\b/gm,
    )) {
      found.set(name, [...(found.get(name) ?? []), subpath])
    }
  }
  return found
}

describe('the page of errors', () => {
  it('has a row for each class of error that the package exports, and no other', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` of `([\w/]+)` \|/gm)]
    expect(rows.map(([, name]) => name).toSorted()).toEqual([...exportedErrors().keys()].toSorted())
    for (const [, name = '', subpath = ''] of rows) {
      expect(exportedErrors().get(name), name).toContain(subpath)
    }
  })

  it('names each member of an AuthError', () => {
    const [, members = ''] = /class AuthError extends Error \{([^}]*)\}/.exec(
      textOf('test/package/api/postern.txt'),
    ) ?? ['']
    const names = [...members.matchAll(/readonly (\w+):/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(4)
    const [row = ''] = /^\| `AuthError` .*$/m.exec(page) ?? []
    expect(names.filter((name) => !row.includes(`\`${name}\``))).toEqual([])
  })
})
