import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalEmail } from '../../src/engine/addresses.js'
import { isSlug } from '../../src/engine/configuration/config-keys.js'
import { maxPasswordBytes } from '../../src/engine/passwords.js'
import { openApiDocument } from '../../src/openapi/index.js'
import { ruledNames, withInputRules } from '../../src/openapi/input-rules.js'
import { operations } from '../../src/operations/index.js'
import { operationOptions } from '../../src/operations/operation.js'
import { describeOperations, ruleRows, sentTexts } from '../../tools/api/schemas.js'

const document = openApiDocument({ surfaceOptions: operationOptions })
const texts = sentTexts(describeOperations(operations, document), document)
const ruleOf = (name: string): string => texts.find((text) => text.name === name)?.rule ?? ''

describe('what callers send', () => {
  it('has a rule in the document for each text', () => {
    expect(texts.length).toBeGreaterThan(100)
    const unruled = texts.filter(({ rule }) => rule === '')
    expect(unruled.map(({ operation, name }) => `${operation} ${name}`)).toEqual([])
  })

  it('has no rule for a text that there is not', () => {
    const sent = new Set(
      texts.flatMap(({ operation, name }) => [
        name,
        `${operation} ${name}`,
        name.replace(/^(\w+) in the path$/, 'path $1'),
        name.replace(/^__Host-(?:op|cl)_(\w+?)(?:_\{flow\})? as a cookie$/, 'cookie $1'),
      ]),
    )
    expect(ruledNames.filter((name) => !sent.has(name))).toEqual([])
  })

  it('is told by the reference as by the document', () => {
    const page = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8')
    for (const [names, rule] of ruleRows(texts)) {
      expect(page).toContain(`| ${names} | ${rule.replaceAll('|', '\\|')} |`)
    }
  })

  it('says of addresses, passwords and slugs what the code says', () => {
    const domain = `${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.example`
    const local = (length: number) => `${'a'.repeat(length)}@${domain}`
    expect([canonicalEmail(local(63)) === null, canonicalEmail(` ${local(63)} `) === null]).toEqual(
      [false, false],
    )
    expect(local(63).length).toBe(254)
    expect([canonicalEmail(local(64)), canonicalEmail(`${'a'.repeat(65)}@b.example`)]).toEqual([
      null,
      null,
    ])
    expect(canonicalEmail(`${'A'.repeat(64)}@b.example`)).toBe(`${'a'.repeat(64)}@b.example`)
    expect(ruleOf('email')).toContain('254 characters at most, of them 64 at most before the @')
    expect(ruleOf('newPassword')).toContain(`${maxPasswordBytes.toLocaleString('en')} bytes`)
    expect([isSlug('a'.repeat(63)), isSlug('a'.repeat(64)), isSlug('a--b')]).toEqual([
      true,
      false,
      false,
    ])
    expect(ruleOf('create')).toContain('63 characters at most')
  })
})

describe('the rule of a text', () => {
  const text = { type: 'string' }

  it('is that of its name, or of its operation’s own name for it, also in lists and unions', () => {
    const list = { type: 'array', items: text }
    const schema = {
      type: 'object',
      properties: { code: { anyOf: [text, { type: 'null' }] }, create: list, code2: text },
    }
    const ruled = JSON.stringify(withInputRules(schema, 'confirmTotp'))
    expect(ruled).toContain('Six digits of the authenticator app that is being enrolled.')
    expect(ruled).toContain('The slug of a new element')
    expect(JSON.stringify(withInputRules(schema, 'verifyStepUp'))).toContain('a backup code')
    expect(withInputRules(text, 'x')).toEqual({ ...text, description: expect.any(String) })
  })

  it('is none for what is no text, or has one', () => {
    const schema = {
      type: 'object',
      properties: {
        email: { type: 'integer' },
        name: { ...text, description: 'Own.' },
        method: { enum: ['a'] },
      },
    }
    expect(withInputRules(schema, 'x')).toEqual(schema)
  })
})
