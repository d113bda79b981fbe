/** A VMI with something in most places that rules look at; sound with all gates on. */
export const RICH_SPEC = {
  hostname: 'web',
  subdomain: 'shop',
  evictionStrategy: 'LiveMigrate',
  terminationGracePeriodSeconds: 30,
  nodeSelector: { disk: 'ssd' },
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['192.0.2.53'], searches: ['shop.test'], options: [{ name: 'ndots', value: '2' }] },
  tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          {
            matchExpressions: [{ key: 'rack', operator: 'In', values: ['r1'] }],
            matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }],
          },
        ],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'fast', operator: 'Exists' }] } },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] },
        },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 100, podAffinityTerm: { topologyKey: 'zone', namespaces: ['shop'] } },
      ],
    },
  },
  readinessProbe: { httpGet: { port: 80, scheme: 'HTTP' }, periodSeconds: 5 },
  livenessProbe: { tcpSocket: { port: 22 } },
  accessCredentials: [
    {
      sshPublicKey: {
        source: { secret: { secretName: 'keys' } },
        propagationMethod: { qemuGuestAgent: { users: ['root'] } },
      },
    },
  ],
  networks: [
    { name: 'main', pod: {} },
    { name: 'blue', multus: { networkName: 'blue' } },
  ],
  volumes: [
    { name: 'os', containerDisk: { image: 'r.test/os:1', path: '/disk/os.img' } },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'seed', cloudInitNoCloud: { userData: '#cloud-config' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'host', hostDisk: { path: '/srv/a.img', type: 'DiskOrCreate', capacity: '1Gi' } },
    { name: 'scratch', emptyDisk: { capacity: '1Gi' } },
  ],
  domain: {
    cpu: { cores: 2, sockets: 1, threads: 1, maxSockets: 4, features: [{ name: 'pcid', policy: 'require' }] },
    memory: { guest: '1Gi', maxGuest: '4Gi' },
    resources: { requests: { memory: '1Gi', cpu: '2' }, limits: { memory: '2Gi' } },
    machine: { type: 'q35' },
    clock: { timezone: 'Europe/Vienna', timer: { hpet: { present: false } } },
    features: { smm: {}, hyperv: { synic: {}, vpindex: {}, spinlocks: { spinlocks: 8191 } } },
    firmware: {
      bootloader: { efi: { secureBoot: true } },
      acpi: { slicNameRef: 'keys' },
      kernelBoot: { kernelArgs: 'quiet', container: { image: 'r.test/kernel:1', kernelPath: '/boot/vmlinuz' } },
    },
    ioThreadsPolicy: 'supplementalPool',
    ioThreads: { supplementalPoolThreadCount: 2 },
    rebootPolicy: 'Reboot',
    devices: {
      disks: [
        { name: 'os', disk: { bus: 'virtio', pciAddress: '0000:81:01.0' }, bootOrder: 1, dedicatedIOThread: true },
        { name: 'data', lun: { bus: 'scsi' }, serial: 'DATA', cache: 'none', io: 'native', errorPolicy: 'report' },
        { name: 'seed', cdrom: { bus: 'sata' } },
        { name: 'scratch', disk: { bus: 'scsi' }, blockSize: { custom: { logical: 512, physical: 4096 } } },
      ],
      interfaces: [
        {
          name: 'main',
          masquerade: {},
          bootOrder: 2,
          macAddress: '02:00:00:aa:bb:01',
          ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
          dhcpOptions: { ntpServers: ['192.0.2.1'], privateOptions: [{ option: 240, value: 'x' }] },
        },
        { name: 'blue', bridge: {}, model: 'e1000e', pciAddress: '0000:01:00.0', state: 'up' },
      ],
      inputs: [{ name: 'pad', type: 'tablet', bus: 'usb' }],
      panicDevices: [{ model: 'isa' }],
      watchdog: { name: 'dog', i6300esb: { action: 'reset' } },
      sound: { name: 'beep', model: 'ich9' },
      video: { type: 'virtio' },
      gpus: [{ name: 'gpu', deviceName: 'vendor.test/gpu', virtualGPUOptions: { display: { enabled: true } } }],
      hostDevices: [{ name: 'nic', deviceName: 'vendor.test/nic' }],
      filesystems: [{ name: 'keys', virtiofs: {} }],
      rng: {},
      tpm: {},
    },
  },
};

/** Gates that the sample needs. */
export const RICH_GATES = ['HostDevices', 'HostDisk'];

export const richInstance = (): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, annotations: { team: 'shop' } },
  spec: structuredClone(RICH_SPEC),
});

export const richVirtualMachine = (): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    runStrategy: 'Always',
    instancetype: { name: 'small', kind: 'VirtualMachineClusterInstancetype' },
    preference: { inferFromVolume: 'os', inferFromVolumeFailurePolicy: 'Ignore' },
    dataVolumeTemplates: [
      {
        metadata: { name: 'data' },
        spec: { storage: { accessModes: ['ReadWriteOnce'] }, source: { http: { url: 'https://images.test/a' } } },
      },
    ],
    template: { metadata: { labels: { app: 'web' } }, spec: structuredClone(RICH_SPEC) },
  },
  status: {
    stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
    volumeRequests: [
      {
        addVolumeOptions: {
          name: 'hot',
          disk: { name: 'hot', disk: { bus: 'scsi' } },
          volumeSource: { persistentVolumeClaim: { claimName: 'hot' } },
        },
      },
      { removeVolumeOptions: { name: 'scratch' } },
    ],
  },
});

export const richMigration = (): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name: 'move', namespace: 'shop' },
  spec: {
    vmiName: 'web',
    addedNodeSelector: { rack: 'r2' },
    sendTo: { connectURL: '192.0.2.9:9185', migrationID: 'a' },
    receive: { migrationID: 'a' },
  },
});
