import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)
const folder = new URL('.github/workflows/', root)
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL('package.json', root), 'utf8'),
)
const workflows = readdirSync(folder).map((name) => ({
  name,
  text: readFileSync(new URL(name, folder), 'utf8'),
}))
const textOf = (wanted: string): string => workflows.find(({ name }) => name === wanted)?.text ?? ''

/** The lines below a key of the outermost level. */
function topLevel(text: string, key: string): string {
  return new RegExp(`^${key}:(.*\\n(?: .*\\n|\\n)*)`, 'm').exec(text)?.[1]?.trim() ?? ''
}

describe('the workflows', () => {
  it.each(workflows)('$name calls scripts and files that there are', ({ text }) => {
    const called = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(called.filter((name) => !(name in scripts))).toEqual([])
    const files = [...text.matchAll(/run: (?:node )?((?:\.ci|tools)\/\S+)/g)]
    for (const [, path = ''] of files) expect(readFileSync(new URL(path, root))).not.toBe('')
  })

  it.each(workflows)(
    '$name takes others’ steps by their commit, and says the version',
    ({ text }) => {
      const uses = [...text.matchAll(/uses: (.*)/g)].map(([, step = '']) => step)
      expect(uses.length).toBeGreaterThan(1)
      for (const step of uses)
        expect(step).toMatch(/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    },
  )

  it.each(workflows)(
    '$name keeps no secret, no credential and no right that it does not need',
    ({ text }) => {
      expect(text).not.toMatch(/secrets\.|_TOKEN|pull_request_target/)
      expect(text.match(/uses: actions\/checkout/g)?.length).toBe(
        text.match(/persist-credentials: false/g)?.length,
      )
      expect(['contents: read', '{}']).toContain(topLevel(text, 'permissions'))
      const rights = [...text.matchAll(/^ +([\w-]+): write$/gm)].map(([, right]) => right)
      expect(rights).toEqual(text.includes('npm publish') ? ['id-token'] : [])
      expect(text).toContain('It has not been executed yet.')
    },
  )

  it('try the package on each Node that it promises to run on', () => {
    const [, nodes = ''] = /node: \[(.*)\]/.exec(textOf('ci.yml')) ?? []
    expect(nodes).toContain("'20.19'")
    const { engines } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    expect(engines.node).toBe('>=20.19.0')
  })

  it('publish with a statement of provenance, and only what was tagged', () => {
    const text = textOf('release.yml')
    expect(topLevel(text, 'on')).toBe("push:\n    tags: ['v*']")
    expect(text).toContain('npm publish --provenance')
    expect(text.indexOf('GITHUB_REF_NAME')).toBeLessThan(text.indexOf('npm publish'))
  })
})
