import { expect, it } from 'vitest'
import { valueText, wordsOf } from '../../adapters/tools/explorer/page/parts/words.ts'

it('an instant of a record is a date of the reader, whichever field has it', () => {
  const at = Date.parse('2097-03-04T12:00:00Z')
  for (const field of ['createdAt', 'until', 'rightsUntil', 'disabledUntil']) {
    expect(valueText(field, at)).toMatch(/2097/)
    expect(valueText(field, at)).not.toContain(String(at))
  }
  expect(valueText('cost', at)).toBe(String(at))
})

it('a list of objects has a mark between two of them that none has inside', () => {
  const systems = [
    { type: 'Linux', versions: ['>=5', '<7'] },
    { type: 'macOS', versions: [] },
  ]
  expect(valueText('operatingSystems', systems)).toBe('type Linux, versions >=5, <7; type macOS, versions nothing')
  expect(valueText('roleAttributes', ['a', 'b'])).toBe('a, b')
})

it('names of fields are words: abbreviations are written out or have capital letters', () => {
  const names = ['jwksEndpoint', 'certPem', 'requireTotp', 'isAdmin', 'ctrlChanListeners', 'useExternalId', 'clientId']
  expect(names.map(wordsOf)).toEqual([
    'JWKS endpoint',
    'Certificate PEM',
    'Require TOTP',
    'Admin',
    'Control channel listeners',
    'Use external id',
    'Client id',
  ])
  expect(['configTypeId', 'issuer', 'extJwt'].map(wordsOf)).toEqual(['Config type', 'Issuer', 'External JWT'])
  expect(valueText('semantic', 'AllOf')).toBe('all of the entries')
})
