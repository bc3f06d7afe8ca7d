import { defineModel } from 'portcullis/model'

/** The network of the program under test: staff may dial what is internal, from managed devices. */
export default defineModel({
  identities: [
    { name: 'laptop', type: 'Device', roleAttributes: ['staff'] },
    { name: 'visitor', type: 'User' },
    { name: 'server', type: 'Service', roleAttributes: ['hosts'] },
  ],
  services: [
    { name: 'wiki', roleAttributes: ['internal'] },
    { name: 'payroll', roleAttributes: ['confidential'] },
  ],
  postureChecks: [{ name: 'managed', typeId: 'DOMAIN', domains: ['corp.example'], roleAttributes: ['managed'] }],
  servicePolicies: [
    {
      name: 'staff dial internal',
      type: 'Dial',
      semantic: 'AnyOf',
      identityRoles: ['#staff'],
      serviceRoles: ['#internal'],
      postureCheckRoles: ['#managed'],
    },
    { name: 'hosts bind all', type: 'Bind', semantic: 'AnyOf', identityRoles: ['#hosts'], serviceRoles: ['#all'] },
  ],
})
