import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, it } from 'vitest'
import { useAuthClient, useSession } from '../../src/react/index.js'

it.each([useSession, useAuthClient])(
  'a hook outside of a provider says what is missing',
  (hook) => {
    const Lost = () => createElement('p', null, String(hook()))
    const message = 'postern/react: render this below an AuthProvider'
    expect(() => renderToString(createElement(Lost))).toThrow(message)
  },
)
