import { expect, it } from 'vitest'
import { postureCheckFields } from '../../../adapters/network/fabric/messages/model-codec.ts'

it('an operating system of any version reaches routers as a range that every version is in', () => {
  const operatingSystems = [
    { type: 'Linux' as const, versions: [] },
    { type: 'Windows' as const, versions: ['>=10.0.19041'] },
  ]
  expect(postureCheckFields({ id: 'c', name: 'c', typeId: 'OS', operatingSystems }).osList).toEqual({
    osList: [
      { osType: 'Linux', osVersions: ['>=0.0.0'] },
      { osType: 'Windows', osVersions: ['>=10.0.19041'] },
    ],
  })
})
