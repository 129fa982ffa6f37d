import { describe, expect, it } from 'vitest'
import { admissions } from '../../adapters/shared/native-guards.js'

describe('who was admitted to a request', () => {
  it('is known of that request alone, and of no copy or heir', () => {
    const admitted = admissions<string>()
    const request = { headers: {} }
    expect(admitted.of(request)).toBeNull()
    admitted.admit(request, 'anna')
    expect(admitted.of(request)).toEqual({ principal: 'anna' })
    expect(admitted.of({ ...request })).toBeNull()
    expect(admitted.of(Object.create(request))).toBeNull()
    expect(admitted.of(new Proxy(request, {}))).toBeNull()
    expect(Reflect.ownKeys(request)).toEqual(['headers'])
  })

  it('is kept apart by each set of guards, and the last one admitted counts', () => {
    const [clients, operators] = [admissions<string>(), admissions<string>()]
    const request = {}
    clients.admit(request, 'anna')
    expect(operators.of(request)).toBeNull()
    operators.admit(request, 'otto')
    clients.admit(request, 'berta')
    expect(clients.of(request)).toEqual({ principal: 'berta' })
    expect(operators.of(request)).toEqual({ principal: 'otto' })
  })
})
