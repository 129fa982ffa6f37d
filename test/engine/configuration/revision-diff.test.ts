import { describe, expect, test } from 'vitest'
import { diffRevisions, publicValues } from '../../../src/engine/configuration/revisions.js'
import { deepFreeze, mailFields } from './mail-module.js'

const before = deepFreeze({
  sender: 'old@example.com',
  apiKey: 'enc:v1:k1:nonceA:cipherA',
  retries: '5',
  retired: 'enc:v1:k1:nonceR:cipherR',
  note: 'plain and undeclared',
  'hooks.__items': 'a,b',
  'hooks.a.url': 'https://a.example',
  'hooks.a.token': 'enc:v1:k1:nonceB:cipherB',
  'hooks.a.oldToken': 'enc:v1:k1:nonceC:cipherC',
  'hooks.b.url': 'https://b.example',
  'gone.x.token': 'enc:v1:k1:nonceD:cipherD',
})
const after = deepFreeze({
  sender: 'new@example.com',
  apiKey: '',
  retries: '5',
  'hooks.__items': 'b,c',
  'hooks.b.url': 'https://b.example',
  'hooks.c.url': '',
  'hooks.c.token': 'typed S3CR3T',
})

describe('diffRevisions', () => {
  test('tells what was added, removed and changed, secrets only as changed', () => {
    const secret = (key: string) => ({ key, kind: 'changed', secret: true })
    expect(diffRevisions(before, after, mailFields)).toEqual([
      secret('apiKey'),
      secret('gone.x.token'),
      { key: 'hooks.__items', kind: 'changed', secret: false, before: 'a,b', after: 'b,c' },
      secret('hooks.a.oldToken'),
      secret('hooks.a.token'),
      {
        key: 'hooks.a.url',
        kind: 'removed',
        secret: false,
        before: 'https://a.example',
        after: null,
      },
      secret('hooks.c.token'),
      { key: 'hooks.c.url', kind: 'added', secret: false, before: null, after: '' },
      { key: 'note', kind: 'removed', secret: false, before: 'plain and undeclared', after: null },
      secret('retired'),
      {
        key: 'sender',
        kind: 'changed',
        secret: false,
        before: 'old@example.com',
        after: 'new@example.com',
      },
    ])
  })

  test('holds no text of a secret, in neither direction', () => {
    const shown = JSON.stringify([
      diffRevisions(before, after, mailFields),
      diffRevisions(after, before, mailFields),
      // The fields were declared once, and are no more.
      diffRevisions(before, {}, []),
    ])
    expect(shown).not.toMatch(/S3CR3T|cipher|nonce/)
  })

  test('finds nothing where nothing changed', () => {
    expect(diffRevisions(before, { ...before }, mailFields)).toEqual([])
  })
})

describe('publicValues', () => {
  test('leaves secrets out and lists those that are set', () => {
    expect(publicValues(before, mailFields)).toEqual({
      values: {
        sender: 'old@example.com',
        retries: '5',
        note: 'plain and undeclared',
        'hooks.__items': 'a,b',
        'hooks.a.url': 'https://a.example',
        'hooks.b.url': 'https://b.example',
      },
      secretsSet: ['apiKey', 'retired', 'hooks.a.token', 'hooks.a.oldToken', 'gone.x.token'],
    })
    expect(publicValues(after, mailFields).secretsSet).toEqual(['hooks.c.token'])
  })

  test('a field of another type that is marked secret is one', () => {
    const fields = [
      { key: 'pin', label: 'PIN', type: 'FieldInt', group: 'G', secret: true },
    ] as const
    expect(publicValues({ pin: '1234' }, fields)).toEqual({ values: {}, secretsSet: ['pin'] })
  })
})
