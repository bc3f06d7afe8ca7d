import { defineModel } from 'portcullis/model'

/** The whole network: staff may dial payroll, the app server may host it, and no other identity reaches it. */
export default defineModel({
  services: [{ name: 'payroll', encryptionRequired: true }],
  identities: [
    { name: 'app-server', type: 'Service' },
    { name: 'laptop', type: 'Device', roleAttributes: ['staff'] },
  ],
  servicePolicies: [
    { name: 'staff', type: 'Dial', semantic: 'AnyOf', identityRoles: ['#staff'], serviceRoles: ['@payroll'] },
    { name: 'host', type: 'Bind', semantic: 'AnyOf', identityRoles: ['@app-server'], serviceRoles: ['@payroll'] },
  ],
  assertions: [{ never: { identity: ['#contractor'], dial: ['@payroll'] }, unless: { identity: ['#staff'] } }],
})
