import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const page = read('docs/dependencies.md')
const { dependencies, peerDependencies } = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

/** The packages that the first cells of a section's table name. */
function packagesOf(section: string): readonly string[] {
  const [, text = ''] = page.split(`\n## ${section}\n`)
  const [table = ''] = text.split('\n## ')
  const cells = [...table.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

describe('the page on dependencies says what package.json says', () => {
  it('each package that comes along, at most twelve', () => {
    expect(packagesOf('Installed with it').toSorted()).toEqual(Object.keys(dependencies).toSorted())
    expect(Object.keys(dependencies).length).toBeLessThanOrEqual(12)
  })

  it('each peer', () => {
    expect(packagesOf('Peers').toSorted()).toEqual(Object.keys(peerDependencies).toSorted())
  })

  it('counts them in words', () => {
    const words = ['four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
    expect(page).toContain(`brings ${words[Object.keys(dependencies).length - 4]} packages`)
  })
})
