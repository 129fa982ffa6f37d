import { describe, expect, it } from 'vitest'
import { packedPage, targetOf } from '../../tools/release/packed-page.js'

const isPacked = (path: string) => ['README.md', 'docs/keys.md', 'docs/images/a.png'].includes(path)
const readme = (text: string) => packedPage(text, 'README.md', isPacked)

describe('a page in the package', () => {
  it('lacks what is for readers of the repository, and keeps the rest as it is', () => {
    const part = '[//]: # (repository)\n\n## Tests\n\nRun them.\n\n[//]: # (end of repository)\n'
    expect(readme(`# One\n\n${part}\n## Two\n\n${part}\nEnd.\n`)).toBe('# One\n\n## Two\n\nEnd.\n')
    expect(readme(`# One\n\n${part}`)).toBe('# One\n\n')
  })

  it('has the bare text where a link leads to a file that is not packed', () => {
    expect(readme('[a](examples/a.md#b), [`c`](CONTRIBUTING.md).')).toBe('a, `c`.')
    const kept = '[a](docs/keys.md#b) [c](#d) [e](https://example.com/f.md) ![g](docs/images/a.png)'
    expect(readme(kept)).toBe(kept)
    expect(
      packedPage('[a](../README.md) [b](keys.md) [c](../src/d.ts)', 'docs/e.md', isPacked),
    ).toBe('[a](../README.md) [b](keys.md) c')
  })
})

it('a link is followed from its page', () => {
  expect(targetOf('keys.md#a', 'docs/b.md')).toBe('docs/keys.md')
  expect(targetOf('../README.md', 'docs/b.md')).toBe('README.md')
  expect(targetOf('#a', 'docs/b.md')).toBeNull()
  expect(targetOf('https://example.com', 'docs/b.md')).toBeNull()
})
